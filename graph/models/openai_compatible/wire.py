"""The HTTP request of one call: address, headers and body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, cast

import httpx
from langchain_core.messages import BaseMessage
from pydantic import SecretStr

from ....state.errors import ConfigurationError
from ..providers import Provider
from .fields import BODY_FIELDS, ChatModelSettings
from .headers_and_query import checked_headers, checked_query
from .hidden import Hidden, secrets_among
from .json_value import as_list, as_object
from .request import encode_body, merged_settings, wire_messages
from .settings import checked_seconds
from .structured import wire_response_format
from .tools import wire_tool_choice

# Settings of a call that are not part of the body, and what langchain-core adds for tracing.
_BESIDE_THE_BODY: Final = frozenset(
    {
        "extra_body",
        "extra_headers",
        "extra_query",
        "ls_structured_output_format",
        "stream",
        "stream_usage",
        "structured_output_format",
        "timeout",
    }
)


def chat_request(
    model: ChatModelSettings,
    messages: Sequence[BaseMessage],
    stop: list[str] | None,
    settings: Mapping[str, Any],
    *,
    stream: bool,
) -> httpx.Request:
    """Return the request that asks the model to answer the messages.

    Args:
        model: Address, key and general settings.
        messages: The history.
        stop: Texts that end the answer; they replace the model's own.
        settings: Settings of this call; merged key by key over the model's.
        stream: Ask for a stream.

    Raises:
        ConfigurationError: A setting of the call is wrong.
        InvalidInputError: A message cannot be sent.
        ChatModelRequestError: The body is no JSON, or too large.
    """
    habits = model.provider_habits
    body = _body(model, stop, settings, habits)
    if stream:
        if body.get("n", 1) != 1:
            msg = f"n is {body['n']!r} in a streamed call, which gives one answer. Use invoke."
            raise ConfigurationError(msg)
        body["stream"] = True
        wanted = settings.get("stream_usage", model.stream_usage)
        if habits.stream_options if wanted is None else wanted:
            body.setdefault("stream_options", {"include_usage": True})
    echo = habits.echo_reasoning if model.echo_reasoning is None else model.echo_reasoning
    body["messages"] = wire_messages(messages, echo_reasoning=echo)
    url = _endpoint(model.base_url, _query(model, settings.get("extra_query")))
    content = encode_body(body, max_bytes=model.max_request_bytes)
    framing = {"host": url.netloc.decode("ascii"), "content-length": str(len(content))}
    # With a stream of its own httpx adds no headers, which would cost as much as all the rest.
    return httpx.Request(
        "POST",
        url,
        headers=_headers(model, settings.get("extra_headers"), framing, stream=stream),
        stream=httpx.ByteStream(content),
    )


def timeout_of(model: ChatModelSettings, settings: Mapping[str, Any]) -> float:
    """Return the seconds to wait for bytes, of this call or of the model.

    Args:
        model: General settings.
        settings: Settings of this call.

    Raises:
        ConfigurationError: The call's time limit is no positive number.
    """
    timeout = settings.get("timeout")
    return model.timeout if timeout is None else checked_seconds(timeout, "timeout")


def hidden_in(model: ChatModelSettings, settings: Mapping[str, Any]) -> Hidden:
    """Return every text of a call that must not be shown.

    Args:
        model: Key and general settings.
        settings: Settings of this call.
    """
    headers, query = settings.get("extra_headers"), settings.get("extra_query")
    if not headers and not query:
        return model.hidden
    words = secrets_among(checked_headers(headers, "extra_headers"))
    return model.hidden.and_also(words + secrets_among(checked_query(query, "extra_query")))


def _body(
    model: ChatModelSettings,
    stop: list[str] | None,
    settings: Mapping[str, Any],
    habits: Provider,
) -> dict[str, Any]:
    own = {name: value for name in BODY_FIELDS if (value := getattr(model, name)) is not None}
    call = {name: value for name, value in settings.items() if name not in _BESIDE_THE_BODY}
    extra = as_object(settings.get("extra_body")) or {}
    body = merged_settings(
        {"model": model.model}, own, model.model_kwargs, model.extra_body, call, extra
    )
    if stop is not None:
        body["stop"] = stop
    if "max_tokens" in body and habits.max_tokens_key != "max_tokens":
        limit = body.pop("max_tokens")
        body.setdefault(habits.max_tokens_key, limit)
    if "response_format" in body:
        body["response_format"] = wire_response_format(body["response_format"])
    if not body.get("tools"):
        for name in ("tools", "tool_choice", "parallel_tool_calls"):
            body.pop(name, None)  # providers refuse an empty list, and a choice among nothing
    elif not _are_tools(body["tools"]):
        msg = "tools of a call must be a list of dicts in OpenAI's form. Use bind_tools."
        raise ConfigurationError(msg)
    choice = body.get("tool_choice")
    if choice is not None and not isinstance(choice, dict):
        tools = cast("list[dict[str, Any]]", body.get("tools") or [])
        word = habits.required_choice
        if choice != word:
            body["tool_choice"] = wire_tool_choice(choice, tools, required=word)
    return body


def _are_tools(tools: object) -> bool:
    listed = as_list(tools)
    return listed is not None and all(isinstance(tool, dict) for tool in listed)


def _headers(
    model: ChatModelSettings, extra: object, framing: Mapping[str, str], *, stream: bool
) -> httpx.Headers:
    given = checked_headers(extra, "extra_headers") if extra else {}
    # From here on nothing may fail: a traceback could show the values.
    headers = {
        **framing,
        "accept": "text/event-stream" if stream else "application/json",
        "content-type": "application/json",
        "user-agent": _user_agent(),
    }
    if model.api_key is not None:
        key_header = model.provider_habits.key_header
        scheme = "Bearer " if key_header == "authorization" else ""
        headers[key_header] = scheme + model.api_key.get_secret_value()
    for name, value in (*model.default_headers.items(), *given.items()):
        headers[name.lower()] = value.get_secret_value()
    return httpx.Headers(headers)


def _query(model: ChatModelSettings, extra: object) -> tuple[tuple[str, str], ...]:
    if not model.default_query and not extra:
        return ()
    query = {**model.default_query, **checked_query(extra, "extra_query")}
    return tuple(
        (name, value.get_secret_value() if isinstance(value, SecretStr) else value)
        for name, value in query.items()
    )


@lru_cache(maxsize=64)
def _endpoint(base_url: str, query: tuple[tuple[str, str], ...]) -> httpx.URL:
    url = httpx.URL(f"{base_url}/chat/completions")
    return url.copy_merge_params(dict(query)) if query else url


@lru_cache(maxsize=1)
def _user_agent() -> str:
    try:
        return f"interlock/{version('interlock')}"
    except PackageNotFoundError:
        return "interlock"
