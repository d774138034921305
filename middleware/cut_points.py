"""Where a conversation can be cut: pure functions over messages.

A cut must not part a tool call from its result, and must leave alone what the model has not read
yet: the messages after its last reply, and that reply itself where it asked for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from ..state.history import last_ai_message

SOURCE = "lc_source"
"""Key of ``additional_kwargs`` by which a human message says that no human wrote it."""

SUMMARY = "summarization"
"""The source of summaries, whoever wrote them."""


def is_real_user(message: BaseMessage) -> bool:
    """Whether a person wrote it, and not a summary, a note or a nudge."""
    return isinstance(message, HumanMessage) and SOURCE not in message.additional_kwargs


def is_summary(message: BaseMessage) -> bool:
    """Whether it is a summary of messages that were cut."""
    return isinstance(message, HumanMessage) and message.additional_kwargs.get(SOURCE) == SUMMARY


def leading_system(messages: Sequence[BaseMessage]) -> int:
    """How many system messages the conversation begins with."""
    for position, message in enumerate(messages):
        if not isinstance(message, SystemMessage):
            return position
    return len(messages)


def last_user(messages: Sequence[BaseMessage]) -> int | None:
    """Position of the newest message that a person wrote: the task at hand."""
    for position in range(len(messages) - 1, -1, -1):
        if is_real_user(messages[position]):
            return position
    return None


def unread_start(messages: Sequence[BaseMessage]) -> int | None:
    """Position from which on the model has not read the conversation, or None if it never spoke.

    A reply that calls tools belongs to the unread part: its results do, or it has none yet.
    """
    found = last_ai_message(messages)
    if found is None:
        return None
    position, reply = found
    return position if reply.tool_calls or reply.invalid_tool_calls else position + 1


def safe_cut(messages: Sequence[BaseMessage], position: int) -> int:
    """The cut nearest to ``position`` that leaves every call with its results.

    It moves back to the message with the calls; past results only if their calls are nowhere.
    """
    if not 0 < position < len(messages):
        return position
    while (earlier := _call_of_later_result(messages, position)) is not None:
        position = earlier
    while position < len(messages) and isinstance(messages[position], ToolMessage):
        position += 1
    return position


def _call_of_later_result(messages: Sequence[BaseMessage], position: int) -> int | None:
    """Position of the earliest message before the cut with a call whose result is behind it.

    Call ids may begin anew in each reply, so a result belongs to the nearest call before it.
    """
    opened: set[str | None] = set()
    wanted: set[str | None] = set()
    for message in messages[position:]:
        if isinstance(message, AIMessage):
            opened |= _call_ids(message)
        elif isinstance(message, ToolMessage) and message.tool_call_id not in opened:
            wanted.add(message.tool_call_id)
    earliest = None
    for place in range(position - 1, -1, -1):
        if not wanted:
            break
        message = messages[place]
        if isinstance(message, AIMessage) and (ids := _call_ids(message) & wanted):
            earliest = place
            wanted -= ids
    return earliest


def _call_ids(message: AIMessage) -> set[str | None]:
    return {call.get("id") for call in (*message.tool_calls, *message.invalid_tool_calls)}


@dataclass(frozen=True)
class Layout:
    """The parts of a conversation that may be cut, each of them as a whole, and its landmarks."""

    system_end: int
    """Number of leading system messages."""
    task: int | None
    """Position of the newest message that a person wrote."""
    turns: Sequence[range]
    """What lies before the task, oldest first: a person's message and everything up to the next
    one. What stands before the first of them is a part of its own."""
    steps: Sequence[range]
    """What came since the task, oldest first: a reply with everything up to the next one."""
    step_open: bool
    """The model has not read the results of the last step yet, which is in no part."""

    def given_up(self, keep_steps: int) -> Sequence[range]:
        """The steps that may go when the newest ``keep_steps`` stay, the open one included."""
        return self.steps[: max(len(self.steps) - max(keep_steps - self.step_open, 0), 0)]


def layout(messages: Sequence[BaseMessage]) -> Layout:
    """Take a valid conversation apart; what the model has not read yet is in no part."""
    system_end = leading_system(messages)
    task = last_user(messages)
    unread = unread_start(messages)
    read_end = system_end if unread is None else unread
    turns_end = system_end if task is None else task
    steps_start = system_end if task is None else task + 1
    turns = _parts(messages, system_end, turns_end, is_real_user)
    steps = _parts(messages, steps_start, len(messages), lambda m: isinstance(m, AIMessage))
    return Layout(
        system_end,
        task,
        [part for part in turns if part.stop <= read_end],
        [part for part in steps if part.stop <= read_end],
        step_open=unread is not None and steps_start <= unread < len(messages),
    )


def _parts(
    messages: Sequence[BaseMessage],
    start: int,
    end: int,
    opens: Callable[[BaseMessage], bool],
) -> list[range]:
    """The stretch from ``start`` to ``end``, divided before each message that opens a part."""
    starts = [p for p in range(start, end) if p == start or opens(messages[p])]
    return [range(a, b) for a, b in zip(starts, [*starts, end][1:], strict=True)]


def tool_steps(messages: Sequence[BaseMessage]) -> list[range]:
    """The results of each reply that called tools, oldest first, as positions."""
    found: list[range] = []
    for position, message in enumerate(messages):
        if not isinstance(message, ToolMessage):
            continue
        if found and found[-1].stop == position:
            found[-1] = range(found[-1].start, position + 1)
        else:
            found.append(range(position, position + 1))
    return found
