"""What a guardrail blocks or revises is seen nowhere, and guardrails cost no superstep."""

from __future__ import annotations

from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.graph import create_agent
from interlock.middleware import (
    AgentMiddleware,
    ExtendedModelResponse,
    Verdict,
    allow,
    block,
    guardrail,
    revise,
)
from interlock.state import AgentState

THREAD: Any = {"configurable": {"thread_id": "t"}}


@tool
def look() -> str:
    """Look."""
    return "a SECRET in a result"


@tool
def fail() -> str:
    """Fail."""
    msg = "a SECRET in an error"
    raise ValueError(msg)


@tool
def command() -> Command[Any]:
    """Command."""
    return Command(
        update={
            "messages": [
                ToolMessage("a SECRET in a command", tool_call_id="c1"),
                HumanMessage("a SECRET beside it"),
            ]
        }
    )


def hide(text: str) -> Verdict:
    return revise(text.replace("SECRET", "[hidden]"))


def deny(text: str) -> Verdict:
    return block("withheld") if "SECRET" in text else allow()


@pytest.mark.parametrize("check", [hide, deny])
@pytest.mark.parametrize("streams", [True, False])
def test_of_an_input_nothing_is_stored_or_streamed(
    scripted: Any, shown: Any, check: Any, streams: bool
) -> None:
    model = scripted("fine")
    agent = create_agent(
        model, [], middleware=[guardrail("input")(check)], checkpointer=InMemorySaver()
    )
    if streams:
        assert "SECRET" not in shown(agent, {"messages": "my SECRET"})
    else:
        agent.invoke({"messages": "my SECRET"}, THREAD)
        assert "SECRET" not in shown(agent, {"messages": "go on"})
    assert all("SECRET" not in m.text for request in model.requests for m in request)


@pytest.mark.parametrize("check", [hide, deny])
def test_of_a_reply_nothing_is_stored_or_streamed(scripted: Any, shown: Any, check: Any) -> None:
    agent = create_agent(
        scripted("the SECRET"),
        [],
        middleware=[guardrail("output")(check)],
        checkpointer=InMemorySaver(),
    )
    seen = shown(agent, {"messages": "go"})
    assert "SECRET" not in seen
    assert ("withheld" if check is deny else "the [hidden]") in seen


@pytest.mark.parametrize("check", [hide, deny])
@pytest.mark.parametrize("names", [["look"], ["fail"], ["command"], ["look", "fail"]])
def test_of_a_result_nothing_is_stored_streamed_or_sent(
    scripted: Any, calling: Any, shown: Any, check: Any, names: list[str]
) -> None:
    model = scripted(calling(*((name, {}) for name in names)), "done")
    agent = create_agent(
        model,
        [look, fail, command],
        middleware=[guardrail("tool_result")(check)],
        checkpointer=InMemorySaver(),
    )
    assert "SECRET" not in shown(agent, {"messages": "go"})
    sent = [m for m in model.requests[1] if isinstance(m, ToolMessage)]
    assert len(sent) == len(names)
    assert all("SECRET" not in m.text for m in model.requests[1])
    assert all(("withheld" in m.text) == (check is deny) for m in sent)


def test_a_failure_that_passes_stays_a_failure(scripted: Any, calling: Any) -> None:
    model = scripted(calling(("fail", {})), "done")
    passing = guardrail("tool_result")(lambda _: allow())
    result = create_agent(model, [fail], middleware=[passing]).invoke({"messages": "go"})
    assert result["messages"][2].status == "error"
    assert "SECRET" in result["messages"][2].text


@pytest.mark.parametrize("settings", [("input", False), ("input", True), ("output", False)])
async def test_a_run_that_is_ended_says_who_ended_it_whatever_ends_runs(
    run: Any, scripted: Any, settings: Any
) -> None:
    on, parallel = settings
    model = scripted("SECRET")
    guard = guardrail(on, parallel=parallel, name="gate")(deny)
    agent = create_agent(model, [look], middleware=[guard], exit_conditions=["look"])
    result = await run(agent, {"messages": "SECRET" if on == "input" else "go"})
    assert result["exit_reason"] == "gate"
    assert result["messages"][-1].text == "withheld"
    assert model.calls == (0 if settings == ("input", False) else 1)


@pytest.mark.parametrize("parallel", [False, True])
async def test_no_later_turn_reads_a_blocked_message(
    run: Any, scripted: Any, parallel: bool
) -> None:
    model = scripted("fine")
    guard = guardrail("input", parallel=parallel)(deny)
    agent = create_agent(model, [], middleware=[guard], checkpointer=InMemorySaver())
    await run(agent, {"messages": "my SECRET"}, THREAD)
    result = await run(agent, {"messages": "go on"}, THREAD)
    assert result["exit_reason"] == "text"
    assert [m.text for m in model.requests[-1]] == [
        "[removed by a guardrail]",
        "withheld",
        "go on",
    ]


@pytest.mark.parametrize("parallel", [False, True])
async def test_every_message_of_a_supplied_history_is_checked_once(
    run: Any, scripted: Any, counting: Any, parallel: bool
) -> None:
    check = counting()
    guard = guardrail("input", parallel=parallel, name="gate")(check)
    agent = create_agent(scripted("fine"), [], middleware=[guard])
    history = [HumanMessage("one"), AIMessage("sure"), HumanMessage("two")]
    result = await run(agent, {"messages": history})
    assert sorted(check.seen) == ["one", "two"]
    await run(agent, {"messages": [*result["messages"], HumanMessage("three")]})
    assert sorted(check.seen) == ["one", "three", "two"]


class Log(AgentState[Any]):
    log: list[str]


class Writes(AgentMiddleware[Any, Any, Any]):
    state_schema = Log

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        update = {"log": ["of the reply"], "messages": [HumanMessage("beside it")]}
        return ExtendedModelResponse(handler(request), Command(update=update))


async def test_with_a_dropped_reply_goes_all_that_layers_inside_wrote(
    run: Any, scripted: Any, calling: Any
) -> None:
    usage = cast("Any", {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7})
    reply = calling(("look", {})).model_copy(update={"usage_metadata": usage})
    guard = guardrail("input", parallel=True)(deny)
    agent = create_agent(scripted(reply), [look], middleware=[guard, Writes()])
    result = await run(agent, {"messages": "SECRET"})
    assert [m.text for m in result["messages"]] == ["[removed by a guardrail]", "withheld"]
    assert not result.get("log")
    assert result["token_usage"]["total_tokens"] == 7


@pytest.mark.parametrize("on", ["input", "parallel", "output", "tool_call", "tool_result"])
async def test_twelve_guardrails_cost_as_many_supersteps_as_none(
    run: Any, scripted: Any, calling: Any, on: Any
) -> None:
    counts: list[int] = []
    for number in (0, 12):
        parallel = on == "parallel"
        surface: Any = "input" if parallel else on
        guards = [
            guardrail(surface, parallel=parallel, name=f"g{n}")(lambda _: allow())
            for n in range(number)
        ]
        saver = InMemorySaver()
        model = scripted(calling(("look", {})), "done")
        agent = create_agent(model, [look], middleware=guards, checkpointer=saver)
        await run(agent, {"messages": "go"}, THREAD)
        counts.append(len([*saver.list(THREAD)]))
    assert counts[0] == counts[1]
