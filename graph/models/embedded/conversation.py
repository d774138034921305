"""A history as the engine reads it: requests, and the results of the calls they led to."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)

from ....state.errors import InvalidInputError
from ....state.model_errors import ChatModelRequestError

_FACT: Final = re.compile(
    r"(?:^|[;\n])\s*((?:date|locale|device|battery|network|location|user|assistant):[^;\n]+)"
)
"""A fact in a system prompt. Source: needle's llms.txt (2026), "Pass environment state as facts,
never instructions", which lists these keys."""

_LONGEST_RESULT: Final = 400
"""Characters of one result that the engine is told. It only decides what to call next, and a
longer text would push the request out of its window."""


@dataclass(frozen=True)
class Result:
    """What a call gave."""

    name: str
    """The tool."""
    arguments: dict[str, Any]
    """What it was called with."""
    text: str
    """What it said."""
    failed: bool
    """Whether that is an error."""

    @property
    def value(self) -> Any:
        """What the engine is told."""
        text = self.text
        if len(text) > _LONGEST_RESULT:
            text = text[:_LONGEST_RESULT] + "…"
        if self.failed:
            return {"error": text}
        try:
            return json.loads(text)
        except ValueError:
            return text


@dataclass
class Turn:
    """One request of the user, and what was called for it."""

    request: str
    """What the user wants."""
    rounds: list[list[Result]] = field(default_factory=list[list[Result]])
    """Results, one list for each reply that called tools."""

    @property
    def results(self) -> list[Result]:
        """All results, in the order of their calls."""
        return [result for results in self.rounds for result in results]

    @property
    def inputs(self) -> list[str]:
        """The texts the engine is told, one for each of its turns."""
        told = [json.dumps([r.value for r in rs], ensure_ascii=False) for rs in self.rounds]
        return [clean(self.request), *map(clean, told)]


@dataclass(frozen=True)
class Conversation:
    """A history, read."""

    facts: str
    """Facts from the system prompt, such as ``date: 2026-12-01 Tue 10:00``."""
    earlier: tuple[Turn, ...]
    """Turns that are over."""
    turn: Turn
    """The turn that the answer belongs to."""

    def inputs(self, earlier_turns: int) -> list[str]:
        """Return what the engine is told, oldest first.

        Args:
            earlier_turns: How many of the turns before this one to include. Those without
                results are left out: the engine would wait for results that never came.
        """
        answered = [turn for turn in self.earlier if turn.rounds]
        kept = answered[-earlier_turns:] if earlier_turns else []
        return [text for turn in (*kept, self.turn) for text in turn.inputs]

    def told(self) -> list[str]:
        """Return every text of the history that an argument may come from."""
        turns = (*self.earlier, self.turn)
        return [self.facts, *(text for turn in turns for text in turn.inputs)]

    def as_one_request(self) -> str:
        """Return the current turn as a request of its own, with what is known by now."""
        results = [f"{result.name}: {result.value}" for result in self.turn.results]
        return clean("\n".join([self.turn.request, *results]))


def read_conversation(messages: Sequence[BaseMessage]) -> Conversation:
    """Return a history as requests and results.

    Args:
        messages: A history in which each tool result follows its call.

    Raises:
        ChatModelRequestError: There is no request of a user.
        InvalidInputError: A message holds something other than text.
    """
    facts: list[str] = []
    turns: list[Turn] = []
    calls: list[ToolCall] = []
    was_human = False
    for position, message in enumerate(messages):
        if isinstance(message, SystemMessage):
            facts += [fact.strip() for fact in _FACT.findall(_text(message, position))]
            continue
        if isinstance(message, HumanMessage) and was_human:
            turns[-1].request += "\n" + _text(message, position)
        elif isinstance(message, HumanMessage):
            turns.append(Turn(_text(message, position)))
        elif isinstance(message, AIMessage) and message.tool_calls and turns:
            calls = message.tool_calls
            turns[-1].rounds.append([])
        elif isinstance(message, ToolMessage) and turns and turns[-1].rounds:
            turns[-1].rounds[-1].append(_result(message, calls, position))
        was_human = isinstance(message, HumanMessage)
    if not turns:
        msg = "There is no user message. The embedded model needs a request: add a HumanMessage."
        raise ChatModelRequestError(msg)
    for turn in turns:
        turn.rounds = [results for results in turn.rounds if results]
    return Conversation("; ".join(facts), tuple(turns[:-1]), turns[-1])


def clean(text: str) -> str:
    """Return a text the engine can be told: C code reads it, as UTF-8 that ends at a zero.

    Args:
        text: Any text.
    """
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _result(message: ToolMessage, calls: Sequence[ToolCall], position: int) -> Result:
    made = next((call for call in calls if call["id"] == message.tool_call_id), None)
    return Result(
        name=made["name"] if made else message.name or "tool",
        arguments=dict(made["args"]) if made else {},
        text=_text(message, position),
        failed=message.status == "error",
    )


def _text(message: BaseMessage, position: int) -> str:
    if isinstance(message.content, str):
        return message.content
    texts: list[str] = []
    for block in message.content:
        text = block if isinstance(block, str) else block.get("text")
        if not isinstance(text, str):
            kind = block.get("type") if isinstance(block, dict) else None
            msg = (
                f"Message {position} ({message.type}) holds a block of type {kind!r}. "
                "The embedded model reads text only: remove it, or use another model."
            )
            raise InvalidInputError(msg)
        texts.append(text)
    return "".join(texts)
