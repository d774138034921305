"""Every place of a message where text can be, and how it is changed there.

Nothing is changed in place: what stays as it is comes back as the same object.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from operator import is_
from typing import Any, NamedTuple, TypeVar, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from ...state.guardrail_errors import DetectorError
from .borders import join_blocks
from .keys import (
    ARGUMENTS,
    CALL_BLOCKS,
    JSON_KEYS,
    SHORTEST_BINARY,
    STRUCTURAL_KEYS,
    is_data_url,
    is_spared,
)
from .objects import change_object

Change = Callable[[str], str]
"""What becomes of a text."""

MessageT = TypeVar("MessageT", bound=BaseMessage)

_DEEPEST = 100
_SHORTEST_NUMBER = 7
_MOST_BITS = 10_000


class Spared(NamedTuple):
    """What is left alone, and what becomes of the rest that cannot be searched."""

    kept: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    strict: bool = False

    def unknown(self, value: Any) -> Any:
        """A value that cannot be searched, or what is said in its place."""
        kind = type(value).__name__
        return f"[withheld: a value of type {kind} cannot be searched]" if self.strict else value


def change_value(
    value: Any,
    change: Change,
    kept: frozenset[str] = frozenset(),
    fixed: frozenset[str] = frozenset(),
    *,
    strict: bool = False,
) -> Any:
    """A value with every text in it changed: in plain data, messages, dataclasses and models.

    Args:
        value: Any value.
        change: What becomes of a text. Long whole numbers are offered to it as text.
        kept: Keys of dicts whose values are left alone.
        fixed: Keys whose values are left alone unless they hold more values: those of content
            blocks are ``STRUCTURAL_KEYS``.
        strict: A text takes the place of what cannot be searched: objects of other kinds, and
            numbers of thousands of digits. Otherwise they are left alone.

    Raises:
        DetectorError: The value is nested too deeply to be searched.
    """
    return _changed(value, change, Spared(kept, fixed, strict), 0)


def _changed(value: Any, change: Change, spared: Spared, depth: int) -> Any:
    if isinstance(value, str):
        return value if is_data_url(value) else _text(value, change)
    if isinstance(value, int):
        return _number(value, change, spared)
    if value is None:
        return None
    if isinstance(value, BaseMessage):
        return change_message(value, change, kept=spared.kept)
    if depth >= _DEEPEST:
        msg = f"A value is nested deeper than {_DEEPEST} levels and cannot be searched; flatten it."
        raise DetectorError(msg)
    return _container(value, change, spared, depth + 1)


def _container(value: Any, change: Change, spared: Spared, depth: int) -> Any:
    if isinstance(value, dict):
        return _mapping(cast("dict[Any, Any]", value), change, spared, depth)
    if isinstance(value, (list, tuple)):
        items = cast("list[Any] | tuple[Any, ...]", value)
        new = [_changed(item, change, spared, depth) for item in items]
        if all(map(is_, new, items)):
            return items
        if isinstance(items, list):
            return new
        make: Any = getattr(items, "_make", tuple)
        return make(new)
    return change_object(value, lambda item: _changed(item, change, spared, depth), spared.unknown)


def _text(value: str, change: Change) -> str:
    new = change(value)
    return value if new == value else new


def _number(value: int, change: Change, spared: Spared) -> Any:
    """A number, or the text that takes its place: card numbers are numbers too."""
    if abs(value) < 10 ** (_SHORTEST_NUMBER - 1):
        return value
    if value.bit_length() > _MOST_BITS:
        # Python itself refuses to write it out.
        return spared.unknown(value)
    written = str(value)
    new = change(written)
    return value if new == written else new


def _mapping(value: dict[Any, Any], change: Change, spared: Spared, depth: int) -> dict[Any, Any]:
    new: dict[Any, Any] = {}
    same = True
    for key, item in value.items():
        if is_spared(key, item, spared.kept, spared.fixed):
            new[key] = item
            continue
        new_key = change(key) if isinstance(key, str) else key
        if key in JSON_KEYS and isinstance(item, str):
            new_item: Any = change_json(item, change)
        else:
            inside = spared._replace(fixed=frozenset()) if key in ARGUMENTS else spared
            new_item = _changed(item, change, inside, depth)
        same = same and new_key == key and new_item is item
        new[new_key] = new_item
    return value if same else new


def change_json(text: str, change: Change) -> str:
    """JSON text with the texts inside changed, however they are escaped; else as plain text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _text(text, change)
    new = change_value(value, change)
    return text if new is value else json.dumps(new, ensure_ascii=False)


def change_message(
    message: MessageT,
    change: Change | None,
    calls: Change | None = None,
    *,
    kept: frozenset[str] = frozenset(),
) -> MessageT:
    """A message with its texts changed; the same object if none is.

    Args:
        message: A message of any kind. Its name, ids and metadata stay.
        change: What becomes of what is said; None leaves it.
        calls: What becomes of the arguments of calls; by default the same as of what is said.
        kept: Keys of content blocks that are left alone.
    """
    content: Any = message.content
    calls = calls if calls is not None else change
    if type(content) is str and _is_all_in_content(message, calls):
        new = content if change is None else change(content)
        return message if new == content else _with_update(message, {"content": new})
    update: dict[str, Any] = {}
    _put(update, message, "content", _content(message.content, change, calls, kept))
    extra = _additional(message.additional_kwargs, change, calls)
    _put(update, message, "additional_kwargs", extra)
    if isinstance(message, AIMessage) and calls is not None:
        for name in ("tool_calls", "invalid_tool_calls"):
            entries: list[Any] = getattr(message, name)
            changed = [_call(entry, calls) for entry in entries]
            if any(a is not b for a, b in zip(changed, entries, strict=True)):
                update[name] = changed
    if isinstance(message, ToolMessage) and change is not None:
        _put(update, message, "artifact", change_value(message.artifact, change, kept, strict=True))
    return _with_update(message, update) if update else message


def _is_all_in_content(message: BaseMessage, calls: Change | None) -> bool:
    """Whether a message has text to be changed in no other place, as most have."""
    if message.additional_kwargs:
        return False
    if isinstance(message, AIMessage):
        if message.invalid_tool_calls:
            return False
        return calls is None or all(_stays(call["args"], calls) for call in message.tool_calls)
    return not isinstance(message, ToolMessage) or message.artifact is None


def _stays(args: Mapping[str, Any], change: Change) -> bool:
    """Whether nothing is to be changed in arguments that are short texts, as most are."""
    for key, value in args.items():
        if type(value) is not str or len(value) >= SHORTEST_BINARY or value.startswith("data:"):
            return False
        if change(key) != key or change(value) != value:
            return False
    return True


def _with_update(message: MessageT, update: dict[str, Any]) -> MessageT:
    if "logprobs" in message.response_metadata:
        # They spell the text out, piece by piece.
        kept_metadata = {k: v for k, v in message.response_metadata.items() if k != "logprobs"}
        update["response_metadata"] = kept_metadata
    return message.model_copy(update=update)


def keep_text(text: str) -> str:
    """The change that changes nothing."""
    return text


def _put(update: dict[str, Any], message: BaseMessage, name: str, new: Any) -> None:
    # By identity: values such as arrays cannot be compared.
    if new is not getattr(message, name):
        update[name] = new


def _content(
    content: str | list[Any], change: Change | None, calls: Change | None, kept: frozenset[str]
) -> Any:
    if isinstance(content, str):
        return content if change is None else _text(content, change)
    new = [_block(block, change, calls, kept) for block in content]
    if change is not None:
        new = join_blocks(new, change)
    return content if len(new) == len(content) and all(map(is_, new, content)) else new


def _block(block: Any, change: Change | None, calls: Change | None, kept: frozenset[str]) -> Any:
    kind = cast("Any", block).get("type") if isinstance(block, dict) else None
    is_call = kind in CALL_BLOCKS
    wanted = calls if is_call else change
    return (
        cast("Any", block) if wanted is None else change_value(block, wanted, kept, STRUCTURAL_KEYS)
    )


def _additional(
    extra: Mapping[str, Any], change: Change | None, calls: Change | None
) -> Mapping[str, Any]:
    new: dict[str, Any] = {}
    for key, value in extra.items():
        wanted = calls if key in {"tool_calls", "function_call"} else change
        fixed = STRUCTURAL_KEYS
        new[key] = value if wanted is None else change_value(value, wanted, fixed=fixed)
    return extra if all(new[key] is value for key, value in extra.items()) else new


def _call(call: Mapping[str, Any], change: Change) -> Mapping[str, Any]:
    args, error = call.get("args"), call.get("error")
    new = change_json(args, change) if isinstance(args, str) else change_value(args, change)
    told = _text(error, change) if isinstance(error, str) else error
    if new is args and told is error:
        return call
    return {**call, "args": new} if told is error else {**call, "args": new, "error": told}
