"""A conversation that the strictest provider accepts: pure functions over messages.

The rule: each tool call of an AI message is answered by exactly one tool message right after it,
call ids are there and differ within a message, and no tool message stands without its call.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage

INTERRUPTED = (
    "This call was not finished: the run stopped before the tool answered. "
    "It may or may not have taken effect; call it again if it is still needed."
)
"""Answer to a call that a crash, a cancellation or a jump left open."""

MAX_ID_LENGTH = 256
"""Longest tool call id that is passed on; longer ones are replaced."""


def last_ai_message(messages: Sequence[BaseMessage]) -> tuple[int, AIMessage] | None:
    """The newest AI message and its position, or None."""
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if isinstance(message, AIMessage):
            return position, message
    return None


def answered_ids(messages: Sequence[BaseMessage], start: int = 0) -> set[str]:
    """Ids of the calls that the messages from ``start`` on answer."""
    return {m.tool_call_id for m in messages[start:] if isinstance(m, ToolMessage)}


def pending_calls(messages: Sequence[BaseMessage]) -> list[ToolCall]:
    """Tool calls of the newest AI message that no tool message answers, in call order."""
    found = last_ai_message(messages)
    return [] if found is None else unanswered(found[1].tool_calls, messages, found[0])


def unanswered(
    calls: Sequence[ToolCall], messages: Sequence[BaseMessage], position: int
) -> list[ToolCall]:
    """Those of some calls of the message at ``position`` that no later one answers, in order."""
    if not calls or position == len(messages) - 1:
        return list(calls)
    done = answered_ids(messages, position + 1)
    return [call for call in calls if call["id"] not in done]


def last_results(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    """The tool results behind the newest AI message, in their order."""
    found: list[ToolMessage] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, ToolMessage):
            found.append(message)
    return found[::-1]


def results_in_call_order(messages: Sequence[BaseMessage]) -> list[BaseMessage] | None:
    """The conversation with the results of the last reply in the order of its calls.

    A call that waited for one behind it has its result later. None stands for a conversation
    that is in order.
    """
    position, reply = last_ai_message(messages) or (len(messages), AIMessage(""))
    order = {call["id"]: number for number, call in enumerate(reply.tool_calls)}
    results = {
        place: message
        for place, message in enumerate(messages[position + 1 :], position + 1)
        if isinstance(message, ToolMessage) and message.tool_call_id in order
    }
    ordered = sorted(results.values(), key=lambda m: order[m.tool_call_id])
    if ordered == [*results.values()]:
        return None
    arranged = list(messages)
    for place, message in zip(results, ordered, strict=True):
        arranged[place] = message
    return arranged


def with_clean_calls(reply: AIMessage) -> AIMessage:
    """A reply whose tool calls all have usable ids that differ from each other.

    Missing and unusable ids are made up, repeated ones get a suffix. The same message comes back
    if there is nothing to change.
    """
    calls = cast("list[Any]", [*reply.tool_calls, *reply.invalid_tool_calls])
    ids = [call.get("id") for call in calls]
    if len(set(ids)) == len(ids) and all(map(_usable_id, ids)):
        return reply
    seen: set[str] = set()
    for position, call in enumerate(calls):
        ident = call.get("id")
        if not _usable_id(ident):
            ident = f"call_{uuid.uuid4().hex}"
        elif ident in seen:
            ident = f"{ident[:200]}-{uuid.uuid4().hex[:12]}"
        seen.add(ident)
        calls[position] = {**call, "id": ident}
    count = len(reply.tool_calls)
    return reply.model_copy(
        update={"tool_calls": calls[:count], "invalid_tool_calls": calls[count:]}
    )


def _usable_id(ident: Any) -> bool:
    return (
        isinstance(ident, str)
        and 0 < len(ident) <= MAX_ID_LENGTH
        and ident.isascii()
        and ident.isprintable()
    )


def invalid_call_answers(reply: AIMessage) -> list[ToolMessage]:
    """An error result for each call of a reply whose arguments could not be read."""
    return [
        ToolMessage(
            content=(
                f"The arguments of this call to {call.get('name') or 'unknown'!r} are no valid "
                "JSON object: they are malformed or truncated. Call the tool again with "
                "complete arguments."
            ),
            name=call.get("name") or "unknown",
            tool_call_id=cast("str", call.get("id")),
            status="error",
        )
        for call in reply.invalid_tool_calls
        if call.get("id")
    ]


@dataclass(frozen=True)
class Repair:
    """What repairing a history came to."""

    messages: list[BaseMessage]
    """The valid history."""
    changed: bool
    """Whether it differs from the one given."""
    added: list[ToolMessage]
    """Error results that were added."""
    appended: bool
    """The only change is at the end: ``messages`` is the given history plus ``added``."""


def is_valid(messages: Sequence[BaseMessage], start: int = 0) -> bool:
    """Whether every call from ``start`` on is answered once, right after its message."""
    waiting: set[str] = set()
    roles = _ROLES
    for message in cast("Sequence[Any]", messages[start:] if start else messages):
        role = roles[type(message)]
        if role is ToolMessage:
            if message.tool_call_id not in waiting:
                return False
            waiting.discard(message.tool_call_id)
        elif waiting:
            return False
        elif role is AIMessage and (message.tool_calls or message.invalid_tool_calls):
            ids = _call_ids(message)
            waiting = set(ids)
            if len(waiting) != len(ids) or not all(map(_usable_id, ids)):
                return False
    return not waiting


class _Roles(dict[type[Any], "type[BaseMessage] | None"]):
    """What a class of messages is here: pydantic makes ``isinstance`` slow for long histories."""

    def __missing__(self, kind: type[Any]) -> type[BaseMessage] | None:
        role = next((role for role in (ToolMessage, AIMessage) if issubclass(kind, role)), None)
        self[kind] = role
        return role


_ROLES = _Roles()


def repair_history(messages: Sequence[BaseMessage], start: int = 0) -> Repair:
    """A history in which every call is answered once, right after its message.

    Results are moved behind their call if they stand later, orphans and duplicates are dropped,
    open calls get an error result. Repairing twice changes nothing more.

    Args:
        messages: The conversation, oldest first. Not changed.
        start: Position before which the history is known to be valid; it is not looked at.
            Must not lie between a call and its results.
    """
    if is_valid(messages, start):
        return Repair(list(messages), changed=False, added=[], appended=True)
    replies = {
        n: with_clean_calls(m)
        for n, m in enumerate(messages[start:], start)
        if isinstance(m, AIMessage)
    }
    matches = _match_results(messages, replies, start)
    repaired: list[BaseMessage] = list(messages[:start])
    added: list[ToolMessage] = []
    for position, message in enumerate(messages[start:], start):
        if isinstance(message, ToolMessage):
            continue
        repaired.append(replies.get(position, message))
        if position in replies:
            given = matches[position]
            repaired += (messages[n] for n in sorted(given.values()))
            new = _missing_answers(replies[position], given)
            repaired += new
            added += new
    changed = len(repaired) != len(messages) or any(
        a is not b for a, b in zip(repaired[start:], messages[start:], strict=True)
    )
    kept = len(repaired) - len(added)
    appended = not changed or (
        kept == len(messages)
        and all(a is b for a, b in zip(repaired[start:kept], messages[start:], strict=True))
    )
    return Repair(repaired, changed=changed, added=added, appended=appended)


def _call_ids(reply: AIMessage) -> list[str]:
    calls: list[Any] = reply.tool_calls
    if reply.invalid_tool_calls:
        calls = [*calls, *reply.invalid_tool_calls]
    return [call["id"] for call in calls] if calls else []


def _match_results(
    messages: Sequence[BaseMessage], replies: dict[int, AIMessage], start: int
) -> dict[int, dict[str, int]]:
    """Per position of an AI message: position of the result of each answered call id.

    Some models begin to count anew in each reply, so an id may occur in several messages: a
    result belongs to the nearest call before it, and the first result of a call is the one.
    """
    matches: dict[int, dict[str, int]] = {}
    owner: dict[str, int] = {}
    for position, message in enumerate(messages[start:], start):
        if (reply := replies.get(position)) is not None:
            matches[position] = {}
            owner.update(dict.fromkeys(_call_ids(reply), position))
        elif isinstance(message, ToolMessage) and message.tool_call_id in owner:
            matches[owner[message.tool_call_id]].setdefault(message.tool_call_id, position)
    return matches


def _missing_answers(reply: AIMessage, given: dict[str, int]) -> list[ToolMessage]:
    """An error result for each call of ``reply`` that has none, in call order."""
    unreadable = {m.tool_call_id: m for m in invalid_call_answers(reply)}
    interrupted = {
        cast("str", c["id"]): ToolMessage(
            INTERRUPTED, tool_call_id=cast("str", c["id"]), name=c["name"], status="error"
        )
        for c in reply.tool_calls
        if c["id"] not in given
    }
    return [m for i, m in {**unreadable, **interrupted}.items() if i not in given]
