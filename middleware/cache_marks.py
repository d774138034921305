"""Taking prompt-cache marks of one provider out of a request that goes to another one.

A middleware further out marked the request for the model it saw; it does not run again when the
request is sent to another model, whose provider may refuse marks it does not know.

Source: the cache controls of Anthropic's Messages API (``cache_control``), the session affinity
of Fireworks (``x-session-affinity``), and OpenAI's ``prompt_cache_key``, 2026.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from .request import ModelRequest

T = TypeVar("T")

_CONTROL = "cache_control"
_KEY = "prompt_cache_key"
_AFFINITY = "x-session-affinity"

_TAKES_CONTROL = frozenset({"anthropic-chat", "anthropic-bedrock-chat", "anthropic-chat-vertexai"})
_TAKES_AFFINITY = frozenset({"fireworks-chat"})
_TAKES_KEY = frozenset({"fireworks-chat", "openai-chat", "azure-openai-chat"})


def portable_request(request: ModelRequest[Any], model: Any = None) -> ModelRequest[Any]:
    """The request without the marks that a model's provider does not take.

    Args:
        request: It stays as it is, and is returned itself if nothing has to go.
        model: The model it is to be sent to; None takes no marks at all.
    """
    kind = getattr(model, "_llm_type", None)
    kind = kind if isinstance(kind, str) else None
    changed = {"model_settings": _settings(request.model_settings, kind)}
    if kind not in _TAKES_CONTROL:
        system = request.system_message
        changed["messages"] = _each(cast("list[Any]", request.messages), _message)
        changed["tools"] = _each(cast("list[Any]", request.tools), _tool)
        changed["system_message"] = None if system is None else _message(system)
    changed = {k: v for k, v in changed.items() if v is not getattr(request, k)}
    return request.override(**changed) if changed else request


def _settings(settings: dict[str, Any], kind: str | None) -> Any:
    if kind not in _TAKES_CONTROL:
        settings = _without(settings, _CONTROL)
    if kind not in _TAKES_KEY:
        settings = _without(settings, _KEY)
    headers = settings.get("extra_headers")
    if kind in _TAKES_AFFINITY or not isinstance(headers, Mapping):
        return settings
    sent = cast("Mapping[Any, Any]", headers)
    kept = {k: v for k, v in sent.items() if str(k).lower() != _AFFINITY}
    if len(kept) == len(sent):
        return settings
    rest = _without(settings, "extra_headers")
    return {**rest, "extra_headers": kept} if kept else rest


def _message(message: BaseMessage) -> BaseMessage:
    content: Any = message.content
    if not isinstance(content, list):
        return message
    clean = _each(cast("list[Any]", content), _block)
    return message if clean is content else message.model_copy(update={"content": clean})


def _block(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    clean = _without(cast("dict[str, Any]", block), _CONTROL)
    for name in ("extras", "metadata"):
        inner: Any = clean.get(name)
        if isinstance(inner, dict) and _CONTROL in inner:
            clean = {**clean, name: _without(cast("dict[str, Any]", inner), _CONTROL)}
    return clean


def _tool(tool: Any) -> Any:
    if isinstance(tool, BaseTool):
        extras = tool.extras
        if not extras or _CONTROL not in extras:
            return tool
        return tool.model_copy(update={"extras": _without(extras, _CONTROL) or None})
    clean = _without(cast("dict[str, Any]", tool), _CONTROL)
    extras = clean.get("extras")
    if isinstance(extras, dict) and _CONTROL in extras:
        return {**clean, "extras": _without(cast("dict[str, Any]", extras), _CONTROL) or None}
    return clean


def _without(values: dict[str, Any], key: str) -> dict[str, Any]:
    """The same dict if the key is not in it."""
    return {k: v for k, v in values.items() if k != key} if key in values else values


def _each(values: list[T], clean: Callable[[T], T]) -> list[T]:
    """The same list if nothing in it changes."""
    cleaned = [clean(value) for value in values]
    same = all(new is old for new, old in zip(cleaned, values, strict=True))
    return values if same else cleaned
