"""What a tool returned, made into messages and state updates: pure functions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import isasyncgen, isawaitable, isgenerator
from io import IOBase
from typing import Any, cast

from langchain_core.messages import ToolCall, ToolMessage, convert_to_messages
from langgraph.types import Command
from pydantic_core import PydanticSerializationError, to_jsonable_python

from ..state.errors import ToolExecutionError

MAX_RESULT_CHARS = 200_000
"""Longest result that a model gets to read; the whole of it stays on ``ToolMessage.artifact``."""

_BLOCK_TYPES = frozenset(
    {"text", "image", "image_url", "audio", "video", "file", "document", "json", "search_result",
     "custom_tool_call_output", "text-plain", "input_audio", "reference", "non_standard"}
)  # fmt: skip


@dataclass
class CallResult:
    """What one executed call did."""

    call: ToolCall
    message: ToolMessage
    """The answer to the call."""
    updates: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    """State updates in order; the answer is not among them."""
    commands: list[Command[Any]] = field(default_factory=list[Command[Any]])
    """Commands that send the run somewhere, without their updates."""
    return_direct: bool = False
    """The tool's result is the answer of the agent."""
    contributions: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])
    """State keys that layers wrote, by layer, where somebody watches."""


def answer(call: ToolCall, value: Any, state_keys: frozenset[str]) -> Any:
    """A tool's return value as its layers see it: a ``ToolMessage``, a ``Command``, or a list.

    Args:
        call: The executed call.
        value: What the tool returned: text, content blocks, any JSON-able value, a dict of
            state keys, a ``ToolMessage``, a ``Command``, or a list of both.
        state_keys: The declared state keys that a tool may write.

    Raises:
        ToolExecutionError: The value cannot be shown to a model.
    """
    name, ident = call["name"], cast("str", call["id"])
    if isinstance(value, (Command, ToolMessage)) or _holds_commands(value):
        return cast("Any", value)
    if isinstance(value, dict) and is_state_update(cast("dict[Any, Any]", value), state_keys):
        update = cast("dict[str, Any]", value)
        shown = {k: v for k, v in update.items() if k != "messages"}
        message = ToolMessage(render(name, shown), tool_call_id=ident, name=name)
        more: Any = update.get("messages") or []
        others: list[Any] = cast("list[Any]", more) if isinstance(more, list) else [more]
        return Command(update={**shown, "messages": [message, *others]})
    return ToolMessage(content_of(name, value), tool_call_id=ident, name=name)


def with_updates(value: Any, updates: Sequence[Mapping[str, Any]]) -> Any:
    """An answer together with state updates that go before its own, in order.

    Args:
        value: What :func:`answer` gave.
        updates: The updates; with none the answer stays as it is.
    """
    if not updates:
        return value
    if len(updates) == 1 and isinstance(value, ToolMessage):
        more: Any = updates[0].get("messages", [])
        return Command(update={**updates[0], "messages": [value, *more]})
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [*(Command(update=dict(update)) for update in updates), *values]


def read_result(call: ToolCall, value: Any, limit: int) -> CallResult:
    """Take a ``ToolMessage``, a ``Command`` or a list of both apart.

    Args:
        call: The executed call.
        value: What :func:`answer` or a layer around the call returned.
        limit: Longest answer in characters.

    Raises:
        ToolExecutionError: ``value`` is something else, or answers another call.
    """
    if isinstance(value, ToolMessage):
        return CallResult(call, cut_message(_own_message(call, value), limit))
    if isinstance(value, Command):
        return _from_commands(call, [value], limit)
    if _holds_commands(value):
        return _from_commands(call, cast("list[Any]", value), limit)
    msg = (
        f"The call to {call['name']!r} came to a {type(value).__name__}; a wrap_tool_call layer "
        "must return a ToolMessage or a Command."
    )
    raise ToolExecutionError(msg, tool_name=call["name"], tool_call_id=call["id"])


def _holds_commands(value: Any) -> bool:
    return isinstance(value, list) and any(
        isinstance(v, (Command, ToolMessage)) for v in cast("list[Any]", value)
    )


def is_state_update(value: Mapping[Any, Any], state_keys: frozenset[str]) -> bool:
    """Whether a dict updates state: all keys are declared, one of them besides ``messages``."""
    return bool(value) and set(value) <= state_keys and set(value) != {"messages"}


def content_of(tool_name: str, value: Any) -> str | list[Any]:
    """Message content for a value: text and content blocks as they are, all else as JSON."""
    if isinstance(value, str):
        return _valid_text(value)
    if isinstance(value, (list, tuple)) and value:
        blocks = cast("Sequence[Any]", value)
        if all(isinstance(b, dict) and cast("Any", b).get("type") in _BLOCK_TYPES for b in blocks):
            return list(blocks)
    return render(tool_name, value)


def render(tool_name: str, value: Any) -> str:
    """A value as JSON text, readable outside ASCII.

    Raises:
        ToolExecutionError: The value, or something in it, has no JSON form.
    """
    if isawaitable(value) or isgenerator(value) or isasyncgen(value) or isinstance(value, IOBase):
        raise _unshowable(tool_name, type(cast("object", value)))
    try:
        plain = to_jsonable_python(value, inf_nan_mode="constants", bytes_mode="base64")
        return _valid_text(json.dumps(plain, ensure_ascii=False))
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        raise _unshowable(tool_name, type(cast("object", value))) from error


def _unshowable(tool_name: str, kind: type) -> ToolExecutionError:
    msg = (
        f"Tool {tool_name!r} returned a {kind.__name__}, which has no JSON form; return text, "
        "content blocks or plain data."
    )
    return ToolExecutionError(msg, tool_name=tool_name)


def _valid_text(text: str) -> str:
    """Text that can be stored and sent: lone surrogates are replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def cut_message(message: ToolMessage, limit: int) -> ToolMessage:
    """A message whose text is at most ``limit`` characters and says so if it was longer."""
    content: Any = message.content
    if not isinstance(content, str) or len(content) <= limit:
        return message
    note = f"\n[cut: {limit} of {len(content)} characters are shown]"
    update: dict[str, Any] = {"content": content[:limit] + note}
    if message.artifact is None:
        update["artifact"] = content
    return message.model_copy(update=update)


def _own_message(call: ToolCall, message: ToolMessage) -> ToolMessage:
    if message.tool_call_id != call["id"]:
        msg = (
            f"Tool {call['name']!r} answered call {message.tool_call_id!r}, but it was called as "
            f"{call['id']!r}; answer with the id of InjectedToolCallId."
        )
        raise ToolExecutionError(msg, tool_name=call["name"], tool_call_id=call["id"])
    return message if message.name else message.model_copy(update={"name": call["name"]})


def _from_commands(call: ToolCall, values: Sequence[Any], limit: int) -> CallResult:
    """Commands and messages of one tool: updates in order, and the answer picked out of them."""
    commands = [c for v in values if (c := _as_move(v)) is not None]
    updates: list[Mapping[str, Any]] = []
    answer: ToolMessage | None = None
    for update in (_as_update(call, value) for value in values):
        others: list[Any] = []
        for message in _messages_in(update):
            if isinstance(message, ToolMessage) and answer is None:
                answer = _own_message(call, message)
            else:
                others.append(message)
        rest = {k: v for k, v in update.items() if k != "messages"}
        if others or "messages" in update:
            rest["messages"] = others
        if rest:
            updates.append(rest)
    if answer is None:
        keys = dict.fromkeys(k for u in updates for k in u if k != "messages")
        done = f"Updated {', '.join(keys)}." if keys else "Done."
        answer = ToolMessage(done, tool_call_id=cast("str", call["id"]), name=call["name"])
    return CallResult(call, cut_message(answer, limit), updates, commands)


def _as_move(value: Any) -> Command[Any] | None:
    """What of a command sends the run somewhere: all of one for a parent graph, else its goto."""
    if not isinstance(value, Command):
        return None
    command = cast("Command[Any]", value)
    if command.graph is not None:
        return command
    return Command(goto=command.goto) if command.goto else None


def _as_update(call: ToolCall, value: Any) -> dict[str, Any]:
    """What of a returned value updates the state of this graph."""
    if isinstance(value, ToolMessage):
        return {"messages": [value]}
    if not isinstance(value, Command):
        msg = f"Tool {call['name']!r} returned a list with a {type(value).__name__} in it."
        raise ToolExecutionError(msg, tool_name=call["name"], tool_call_id=call["id"])
    command = cast("Command[Any]", value)
    update: Any = command.update
    if update is None or command.graph is not None:
        return {}
    if isinstance(update, Mapping):
        return dict(cast("Mapping[str, Any]", update))
    try:
        return {"messages": list(cast("Any", update))} if isinstance(update, list) else dict(update)
    except (TypeError, ValueError) as error:
        msg = f"Tool {call['name']!r} returned a Command whose update is no dict."
        raise ToolExecutionError(msg, tool_name=call["name"], tool_call_id=call["id"]) from error


def _messages_in(update: Mapping[str, Any]) -> Iterator[Any]:
    entries = update.get("messages")
    if entries is None:
        return
    for entry in cast("list[Any]", entries) if isinstance(entries, list) else [entries]:
        if isinstance(entry, (dict, tuple)):
            yield convert_to_messages([cast("Any", entry)])[0]
        else:
            yield entry
