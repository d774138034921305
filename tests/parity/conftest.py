"""What comparisons with LangChain share: one run, in either agent and in either mode."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from itertools import groupby
from typing import Any, cast

import pytest
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.graph.models import ScriptedChatModel
from interlock.tools import tool

Outcome = Callable[..., Awaitable[tuple[Any, Any]]]


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


@tool
def note(text: str) -> str:
    """Note a text."""
    return f"noted {text}"


@tool
def fail() -> str:
    """Fail."""
    msg = "no luck"
    raise ValueError(msg)


def seen(messages: Sequence[BaseMessage], worded: Collection[str] = ()) -> list[tuple[Any, ...]]:
    """What messages say, the results of one step in the order of their calls."""
    ordered: list[Any] = []
    for kind, group in groupby(cast("Sequence[Any]", messages), key=lambda m: str(m.type)):
        step = list(group)
        ordered += sorted(step, key=lambda m: m.tool_call_id) if kind == "tool" else step
    return [
        (
            m.type,
            "" if m.type in worded else m.text.strip(),
            [c["name"] for c in getattr(m, "tool_calls", [])],
            getattr(m, "status", ""),
        )
        for m in ordered
    ]


@pytest.fixture
def outcome() -> Outcome:
    """``await outcome(create_agent, mode, middleware=..., script=...)``: what came of a run.

    Its messages, or the name of its error, and the messages of each request to the model.
    """

    async def play(
        build: Any,
        mode: str,
        *,
        middleware: Sequence[Any],
        script: Sequence[Any],
        messages: Sequence[BaseMessage] = (),
        resume: Any = None,
        worded: Collection[str] = (),
    ) -> tuple[Any, Any]:
        model = ScriptedChatModel(list(script))
        settings = {"middleware": middleware, "checkpointer": InMemorySaver()}
        agent = build(model, [search, note, fail], **settings)
        config: Any = {"configurable": {"thread_id": "t"}}
        values: list[Any] = [{"messages": [*messages] or [HumanMessage("go")]}]
        if resume is not None:
            values.append(Command(resume=resume))
        result: Any = None
        try:
            for value in values:
                result = (
                    agent.invoke(value, config)
                    if mode == "invoke"
                    else await agent.ainvoke(value, config)
                )
        except Exception as error:  # noqa: BLE001 - what is raised is compared
            result = type(error).__name__
        else:
            result = seen(result["messages"], worded)
        return result, [seen(request, worded) for request in model.requests]

    return play
