"""Content blocks of messages in the form OpenAI-compatible servers read.

Nothing is fetched: a URL is passed on as a URL. Source: OpenAI's chat completions reference,
vLLM's multimodal inputs and OpenRouter's PDF inputs (2026).
"""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from ....state.errors import InvalidInputError

WireContent = str | list[dict[str, Any]]

_PASSED_ON: Final = frozenset({"image_url", "input_audio", "video_url", "audio_url", "refusal"})

_INNER: Final = frozenset(
    {
        "code_interpreter_call",
        "function_call",
        "invalid_tool_call",
        "non_standard",
        "reasoning",
        "redacted_thinking",
        "server_tool_call",
        "server_tool_call_chunk",
        "server_tool_result",
        "thinking",
        "tool_call",
        "tool_call_chunk",
        "tool_use",
    }
)
"""Blocks that belong to the provider that wrote an assistant message and are not sent back."""

_AUDIO_FORMATS: Final = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav", "vnd.wave": "wav"}


def wire_content(content: str | Sequence[str | Mapping[str, Any]], where: str) -> WireContent:
    """Return content as the provider reads it; text alone stays one text.

    Args:
        content: A message's content: text, or blocks in langchain-core's or OpenAI's form.
        where: The message, for errors, such as ``message 3 (human)``.

    Raises:
        InvalidInputError: A block is of an unknown type or lacks what its type needs.
    """
    if isinstance(content, str):
        return content
    parts: list[dict[str, Any]] = []
    for position, block in enumerate(content):
        part = _wire_block(block, f"block {position} of {where}")
        if part is not None:
            parts.append(part)
    if all(part["type"] == "text" for part in parts) and len(parts) <= 1:
        return "".join(cast("str", part["text"]) for part in parts)
    return parts


def is_known(block: Mapping[str, Any]) -> bool:
    """Tell whether a block is of a type that can be sent or is known to be left out.

    Args:
        block: A content block.
    """
    kind = block.get("type")
    return isinstance(kind, str) and (kind in _BUILDERS or kind in _PASSED_ON or kind in _INNER)


def _wire_block(block: object, where: str) -> dict[str, Any] | None:
    if isinstance(block, str):
        return {"type": "text", "text": block} if block else None
    if not isinstance(block, Mapping):
        msg = (
            f"{where} is {type(block).__name__!r}, neither text nor a block. "
            "Use a string or a dict with a 'type'."
        )
        raise InvalidInputError(msg)
    given = cast("Mapping[str, Any]", block)
    kind = given.get("type")
    name = kind if isinstance(kind, str) else ""
    if name in _PASSED_ON:
        return _openai_block(given)
    if name in _INNER:
        return None
    build = _BUILDERS.get(name)
    if kind is None and isinstance(given.get("text"), str):
        build = _text
    if build is None:
        msg = (
            f"{where} has the unknown type {kind!r}. "
            f"Use one of {', '.join(sorted(_BUILDERS))} or {', '.join(sorted(_PASSED_ON))}."
        )
        raise InvalidInputError(msg)
    return build(given, where)


def _openai_block(block: Mapping[str, Any]) -> dict[str, Any]:
    kind = cast("str", block["type"])
    value = block.get(kind)
    inner = {"url": value} if isinstance(value, str) and kind != "refusal" else value
    return {"type": kind, kind: inner}


def _text(block: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    text = block.get("text")
    if not isinstance(text, str):
        raise _lacks(where, "a 'text'")
    return {"type": "text", "text": text} if text else None


def _image(block: Mapping[str, Any], where: str) -> dict[str, Any]:
    source = block.get("source")
    if isinstance(source, Mapping):  # Anthropic's form
        inner = cast("Mapping[str, Any]", source)
        block = {
            "base64": inner.get("data"),
            "mime_type": inner.get("media_type"),
            "url": inner.get("url"),
        }
    image: dict[str, Any] = {"url": _url(block, where)}
    if detail := block.get("detail") or _extras(block).get("detail"):
        image["detail"] = detail
    return {"type": "image_url", "image_url": image}


def _audio(block: Mapping[str, Any], where: str) -> dict[str, Any]:
    data = _base64(block)
    if data is None:
        return {"type": "audio_url", "audio_url": {"url": _url(block, where)}}
    subtype = _mime_type(block, where).partition("/")[2].lower()
    return {
        "type": "input_audio",
        "input_audio": {"data": data, "format": _AUDIO_FORMATS.get(subtype, subtype)},
    }


def _video(block: Mapping[str, Any], where: str) -> dict[str, Any]:
    return {"type": "video_url", "video_url": {"url": _url(block, where)}}


def _file(block: Mapping[str, Any], where: str) -> dict[str, Any]:
    if isinstance(block.get("file"), Mapping):  # already OpenAI's form
        return {"type": "file", "file": dict(cast("Mapping[str, Any]", block["file"]))}
    identity = block.get("file_id") or (
        block.get("id") if block.get("source_type") == "id" else None
    )
    if identity:
        return {"type": "file", "file": {"file_id": identity}}
    url = _url(block, where)
    extras = _extras(block)
    name = block.get("filename") or extras.get("filename") or extras.get("name")
    if not name:
        suffix = mimetypes.guess_extension(str(block.get("mime_type") or "")) or ""
        name = f"file{suffix}"
    return {"type": "file", "file": {"filename": name, "file_data": url}}


def _plain_text(block: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    if isinstance(block.get("text"), str):
        return _text(block, where)
    return _file(block, where)


_BUILDERS: Final[Mapping[str, Callable[[Mapping[str, Any], str], dict[str, Any] | None]]] = {
    "audio": _audio,
    "file": _file,
    "image": _image,
    "input_text": _text,
    "output_text": _text,
    "text": _text,
    "text-plain": _plain_text,
    "video": _video,
}


def _url(block: Mapping[str, Any], where: str) -> str:
    data = _base64(block)
    if data is not None:
        return f"data:{_mime_type(block, where)};base64,{data}"
    url = block.get("url")
    if not isinstance(url, str) or not url:
        raise _lacks(where, "a 'url', or 'base64' and 'mime_type'")
    return url


def _base64(block: Mapping[str, Any]) -> str | None:
    data = block.get("base64")
    if data is None and block.get("source_type") == "base64":
        data = block.get("data")
    return data if isinstance(data, str) and data else None


def _mime_type(block: Mapping[str, Any], where: str) -> str:
    mime_type = block.get("mime_type")
    if not isinstance(mime_type, str) or "/" not in mime_type:
        raise _lacks(where, "a 'mime_type' such as 'image/png'")
    return mime_type


def _extras(block: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in ("extras", "metadata"):
        value = block.get(key)
        if isinstance(value, Mapping):
            return cast("Mapping[str, Any]", value)
    return {}


def _lacks(where: str, what: str) -> InvalidInputError:
    return InvalidInputError(f"{where} lacks {what}. Add it.")
