"""A conversation with an agent, question by question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard, cast

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, Interrupt

from ...compiled import AgentGraph
from .screen import Screen, short

_EXPECTED = frozenset({"text", None})
"""Exit reasons that need no word: the model answered, or the run waits for a person."""


class Dialogue:
    """Puts questions to an agent and shows what comes of them.

    Args:
        agent: An agent with a checkpointer.
        thread_id: Which thread of the checkpointer goes on.
        screen: Where answers, tools and errors are shown.
    """

    def __init__(self, agent: AgentGraph, thread_id: str, screen: Screen) -> None:
        self._agent = agent
        self._screen = screen
        self._config: RunnableConfig = {
            "configurable": {"thread_id": thread_id},
            "callbacks": [screen],
        }

    async def begin(self) -> int:
        """Show what waits for an answer, and give the number of messages so far."""
        state = await self._agent.aget_state(self._config)
        if state.interrupts:
            self._show_question(state.interrupts[0])
        values = cast("Mapping[str, Any]", state.values)
        return len(values.get("messages", ()))

    async def ask(self, line: str) -> bool:
        """Give the agent a question, or an answer if a tool waits for one.

        An error is shown in one line; the thread keeps the question.

        Args:
            line: What was typed.

        Returns:
            Whether the run came to an end.
        """
        try:
            await self._run(line)
        except BrokenPipeError:  # nobody reads the answers any more
            raise
        except Exception as error:  # noqa: BLE001 - boundary: a chat goes on after any failure
            self._screen.error(_in_one_line(error))
            return False
        return True

    async def _run(self, line: str) -> None:
        before = await self._agent.aget_state(self._config)
        value: Any = {"messages": [("user", line)]}
        if before.interrupts:
            value = Command(resume={before.interrupts[0].id: line})
        self._screen.begin_turn()
        result: Mapping[str, Any] = {}
        async for mode, chunk in self._agent.astream(
            value, self._config, stream_mode=["updates", "values"], durability="sync"
        ):
            if mode == "values":
                result = cast("Mapping[str, Any]", chunk)
            else:
                for refused in filter(_is_result, _messages(chunk)):
                    self._screen.result(refused)  # of a call whose tool did not begin
        after = await self._agent.aget_state(self._config)
        if after.interrupts:
            self._show_question(after.interrupts[0])
        elif (reason := result.get("exit_reason")) not in _EXPECTED:
            self._screen.note(f"[the run ended: {reason}]")

    def _show_question(self, interrupt: Interrupt) -> None:
        self._screen.note(f"[a tool asks: {short(interrupt.value)}]")


def _messages(updates: Mapping[str, Any]) -> Iterator[Any]:
    """The messages that the nodes of one superstep added."""
    for update in updates.values():
        for part in cast("list[Any]", update if isinstance(update, list) else [update]):
            if isinstance(part, Mapping):
                added: Any = cast("Mapping[str, Any]", part).get("messages") or ()
                yield from cast("list[Any]", added if isinstance(added, (list, tuple)) else [added])


def _is_result(message: Any) -> TypeGuard[ToolMessage]:
    return isinstance(message, ToolMessage)


def _in_one_line(error: Exception) -> str:
    name = type(error).__name__
    return f"{name}: {short(str(error))}" if str(error).strip() else name
