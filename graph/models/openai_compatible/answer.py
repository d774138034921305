"""A whole answer, read into messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration
from pydantic_core import from_json

from .excerpt import describe_body, excerpt
from .failures import from_error_object, malformed
from .finish import cut_off_by
from .json_value import as_list, as_object
from .message import answer_metadata, content_of, extras_of, reasoning_of
from .origin import Origin
from .surrogates import without_surrogates
from .tool_calls import DecidedCalls, ToolCallSlots, legacy_function_call
from .usage import read_usage


def parse_payload(body: bytes) -> object:
    """Return the JSON value of a body or an event.

    Half surrogate pairs, which some servers send escaped, become replacement characters.

    Args:
        body: Bytes of one JSON value.

    Raises:
        ValueError: It is no JSON, or nested too deeply.
    """
    try:
        return from_json(body)
    except ValueError:
        if b"\\u" not in body:
            raise
        try:
            return without_surrogates(json.loads(body))
        except RecursionError:
            msg = "nested too deeply"
            raise ValueError(msg) from None  # ValueError is json's own


def read_body(body: bytes, origin: Origin) -> list[ChatGeneration]:
    """Return the generations of a whole answer, one per choice.

    Args:
        body: The answer's body.
        origin: Where it came from.

    Raises:
        ChatModelMalformedError: The body is not a chat completion.
        ChatModelError: The answer reports an error; the class tells which.
    """
    try:
        payload = parse_payload(body)
    except ValueError as exc:
        came = describe_body(body, origin.headers.get("content-type", ""))
        msg = f"no valid JSON ({exc}) but {came}"
        raise malformed(msg, origin) from None
    return read_answer(payload, origin)


def read_answer(payload: object, origin: Origin) -> list[ChatGeneration]:
    """Return the generations of a decoded answer, one per choice.

    Args:
        payload: The decoded body.
        origin: Where it came from.

    Raises:
        ChatModelMalformedError: The payload is not a chat completion.
        ChatModelError: The answer reports an error; the class tells which.
    """
    answer = as_object(payload)
    if answer is None:
        msg = f"no object but {excerpt(repr(payload), 120)}"
        raise malformed(msg, origin)
    choices = as_list(answer.get("choices"))
    if answer.get("error") and not choices:
        raise from_error_object(answer["error"], origin)
    if not choices:
        msg = f"no choices, so no message: {excerpt(repr(answer), 200)}"
        raise malformed(msg, origin)
    return [ChatGeneration(message=_message(choice, answer, origin)) for choice in choices]


def _message(choice: object, answer: Mapping[str, Any], origin: Origin) -> AIMessage:
    given = as_object(choice) or {}
    message = as_object(given.get("message"))
    if message is None:
        msg = f"a choice without a message: {excerpt(repr(choice), 200)}"
        raise malformed(msg, origin)
    said = given.get("finish_reason")
    finish_reason = str(said) if said else None

    decided = DecidedCalls()
    entries = legacy_function_call(message)
    if entries:
        slots = ToolCallSlots()
        slots.add_whole(entries)
        decided = slots.decide(cut_off=cut_off_by(finish_reason))
    content, thoughts = content_of(message.get("content"), origin)
    beside = ("index", "message", "finish_reason")
    noted = {k: v for k, v in given.items() if k not in beside and v is not None}
    metadata = {**answer_metadata(answer), **noted, **origin.metadata()}
    if finish_reason is not None:
        metadata["finish_reason"] = finish_reason
    if answer.get("usage"):
        metadata["token_usage"] = answer["usage"]
    return AIMessage(
        content=content,
        additional_kwargs=_beside_the_text(message, thoughts, decided),
        response_metadata=metadata,
        tool_calls=decided.valid,
        invalid_tool_calls=decided.invalid,
        usage_metadata=read_usage(answer.get("usage")),
    )


def _beside_the_text(
    message: Mapping[str, Any], thoughts: str, decided: DecidedCalls
) -> dict[str, Any]:
    beside = extras_of(message)
    if reasoning := reasoning_of(message) or thoughts:
        beside["reasoning_content"] = reasoning
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        beside["refusal"] = refusal
    if decided.extras:
        beside["tool_call_extras"] = decided.extras
    return beside
