"""A hook or layer that stores what it found out, and only then pauses the run."""

from __future__ import annotations

import operator
from typing import Annotated, Any

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware
from interlock.state import AgentState
from interlock.state.store_first import StoreFirstError

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Found(AgentState[Any]):
    found: Annotated[list[str], operator.add]


def look(log: list[str], state: Any, what: str) -> Any:
    """Find something out once, and ask about it."""
    if what not in (state.get("found") or []):
        log.append(f"found {what}")
        raise StoreFirstError({"found": [what]})
    return interrupt(what)


class Hooked(AgentMiddleware[Any, Any, Any]):
    state_schema = Found

    def __init__(self, point: str, log: list[str]) -> None:
        def hook(state: Any, runtime: Any) -> None:  # noqa: ARG001
            log.append(f"said {look(log, state, point)}")

        vars(self)[point] = hook


class Layered(AgentMiddleware[Any, Any, Any]):
    state_schema = Found

    def __init__(self, log: list[str]) -> None:
        self._log = log

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        said = look(self._log, request.state, request.tool_call["id"])
        self._log.append(f"said {said}")
        return handler(request)


@tool
def note(text: str) -> str:
    """Note a text."""
    return f"noted {text}"


@pytest.mark.parametrize(
    "point", ["before_agent", "before_model", "after_model", "before_tools", "after_tools"]
)
async def test_a_hook_finds_out_once_and_asks_from_the_state(
    run: Any, calling: Any, point: str
) -> None:
    log: list[str] = []
    model = ScriptedChatModel([calling(("note", {"text": "x"})), "done"])
    hooked = Hooked(point, log)
    agent = create_agent(model, [note], middleware=[hooked], checkpointer=InMemorySaver())
    await run(agent, {"messages": "go"}, THREAD)
    result: Any = {}
    while agent.get_state(THREAD).interrupts:
        result = await run(agent, Command(resume="yes"), THREAD)
    assert result["exit_reason"] == "text"
    assert log[:2] == [f"found {point}", "said yes"]
    assert log.count(f"found {point}") == 1
    assert model.calls == 2


@pytest.mark.parametrize("count", [1, 2])
async def test_a_layer_around_calls_finds_out_once_and_no_call_runs_twice(
    run: Any, calling: Any, count: int
) -> None:
    log: list[str] = []
    calls = [("note", {"text": str(n)}) for n in range(count)]
    agent = create_agent(
        ScriptedChatModel([calling(*calls), "done"]),
        [note],
        middleware=[Layered(log)],
        checkpointer=InMemorySaver(),
    )
    await run(agent, {"messages": "go"}, THREAD)
    asked = agent.get_state(THREAD).interrupts
    assert sorted(i.value for i in asked) == [f"c{n + 1}" for n in range(count)]
    answers = {i.id: f"yes to {i.value}" for i in asked}
    result = await run(agent, Command(resume=answers), THREAD)
    assert sorted(log) == sorted(
        word for n in range(count) for word in (f"found c{n + 1}", f"said yes to c{n + 1}")
    )
    assert [m.text for m in result["messages"]][2:-1] == [f"noted {n}" for n in range(count)]


async def test_without_a_checkpointer_the_update_takes_effect_before_the_pause(run: Any) -> None:
    log: list[str] = []
    agent = create_agent(ScriptedChatModel(["hi"]), [], middleware=[Hooked("before_model", log)])
    result = await run(agent, {"messages": "go"})
    assert [i.value for i in result["__interrupt__"]] == ["before_model"]
    assert log == ["found before_model"]
    assert result["found"] == ["before_model"]
