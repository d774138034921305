"""The parts of a message or delta that every provider names a little differently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from langchain_core.messages import AIMessage

from .excerpt import excerpt
from .failures import malformed
from .json_value import as_list, as_object
from .origin import Origin

REASONING_KEYS: Final = ("reasoning_content", "reasoning", "reasoning_text", "thinking")

_KNOWN: Final = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", *REASONING_KEYS}
)

_NOT_METADATA: Final = frozenset({"choices", "object", "usage", "error", "model"})

Content = str | list[str | dict[Any, Any]]


def reasoning_of(message: Mapping[str, Any]) -> str:
    """Return the reasoning a provider sent beside the text, or the empty string.

    Args:
        message: A message or a delta.
    """
    for key in REASONING_KEYS:
        value = message.get(key)
        if isinstance(value, str) and value:
            return value
    details = as_list(message.get("reasoning_details"))
    return "".join(_texts(details or [], ("text", "summary")))


def content_of(content: object, origin: Origin) -> tuple[Content, str]:
    """Return the content and the reasoning that was among its parts.

    Args:
        content: Text, a list of parts, or nothing. A list of text parts becomes one text.
        origin: Where it came from.

    Raises:
        ChatModelMalformedError: It is something else.
    """
    if content is None:
        return "", ""
    if isinstance(content, str):
        return content, ""
    parts = as_list(content)
    if parts is None:
        msg = f"content that is neither text nor parts: {excerpt(repr(content), 80)}"
        raise malformed(msg, origin)
    kept: list[str | dict[Any, Any]] = []
    thoughts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            kept.append(part)
            continue
        block = as_object(part) or {}
        kind = block.get("type", "text")
        if kind in ("text", "output_text") and isinstance(block.get("text"), str):
            kept.append(cast("str", block["text"]))
        elif kind == "thinking":
            inner = block.get("thinking")
            texts = _texts(as_list(inner) or [], ("text",))
            thoughts += [inner] if isinstance(inner, str) else texts
        elif isinstance(kind, str) and kind not in ("text", "output_text"):
            kept.append(block)
        else:
            msg = f"a content part without a type or text: {excerpt(repr(part), 80)}"
            raise malformed(msg, origin)
    if all(isinstance(part, str) for part in kept):
        return "".join(cast("list[str]", kept)), "".join(thoughts)
    _check_blocks(kept, origin)
    return kept, "".join(thoughts)


def _check_blocks(content: list[str | dict[Any, Any]], origin: Origin) -> None:
    """Refuse blocks of a known type without what it needs: langchain-core would fail later."""
    trial = AIMessage(content=content, response_metadata={"model_provider": origin.provider})
    try:
        trial.content_blocks  # noqa: B018  # the property is the trial
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as exc:
        msg = f"content parts that cannot be read ({exc!r}): {excerpt(repr(content), 80)}"
        raise malformed(msg, origin) from None


def extras_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a provider added to a message beyond the protocol, empty values left out.

    Args:
        message: A message or a delta.
    """
    return {k: v for k, v in message.items() if k not in _KNOWN and v not in (None, "", [], {})}


def gather_extras(gathered: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add the extras of one delta to those gathered so far, in place.

    Lists grow; the texts inside an object (the transcript of audio) grow too; anything else is
    replaced.

    Args:
        gathered: What earlier deltas brought.
        more: What this one brings.
    """
    for key, value in more.items():
        before = gathered.get(key)
        old_list, new_list = as_list(before), as_list(value)
        old_object, new_object = as_object(before), as_object(value)
        if old_list is not None and new_list is not None:
            gathered[key] = old_list + new_list
        elif old_object is not None and new_object is not None:
            grown = dict(old_object)
            for name, part in new_object.items():
                old = grown.get(name)
                if isinstance(old, str) and isinstance(part, str) and name != "id":
                    grown[name] = old + part
                else:
                    grown[name] = part
            gathered[key] = grown
        else:
            gathered[key] = value


def answer_metadata(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an answer says about itself: id, tier, fingerprint, provider extras.

    Args:
        payload: The whole answer, or one event of a stream.
    """
    found = {k: v for k, v in payload.items() if k not in _NOT_METADATA and v is not None}
    model = payload.get("model")
    if isinstance(model, str) and model:
        found["model_name"] = model
    return found


def _texts(parts: list[object], keys: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for part in parts:
        block = as_object(part) or {}
        found += [v for k in keys if isinstance(v := block.get(k), str)]
    return found
