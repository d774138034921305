"""Hooks that end a run, keep it going, or come after it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from interlock.graph import create_agent
from interlock.middleware import hook
from interlock.state import State
from interlock.tools import tool


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


async def test_a_hook_on_exit_keeps_the_run_going(run: Any, scripted: Any) -> None:
    asked: list[int] = []

    def insist(state: Any) -> Any:
        asked.append(len(state["messages"]))
        if len(asked) > 1:
            return None
        return {"messages": [SystemMessage("More.")], "continue_run": True}

    agent = create_agent(scripted("short", "long"), [search], hooks={"on_exit": [insist]})
    result = await run(agent, {"messages": "go"})
    assert [m.text for m in result["messages"]] == ["go", "short", "More.", "long"]
    assert result["exit_reason"] == "text"


async def test_always_going_on_is_bounded_by_the_steps(run: Any, scripted: Any) -> None:
    model = scripted("again")

    def go_on(_state: Any) -> Any:
        return {"continue_run": True}

    hooks = {"on_exit": [go_on]}
    result = await run(
        create_agent(model, [search], hooks=hooks, max_agent_steps=3), {"messages": "go"}
    )
    assert (model.calls, result["exit_reason"]) == (3, "max_agent_steps")


async def test_a_stop_reason_is_the_exit_reason(run: Any, scripted: Any) -> None:
    model = scripted("never")

    def stop(_state: Any) -> Any:
        return {"stop_run": "tired"}

    agent = create_agent(model, [], hooks={"before_llm": [stop]})
    result = await run(agent, {"messages": "go"})
    assert (model.calls, result["exit_reason"], result["step_count"]) == (0, "tired", 0)


async def test_a_hook_that_looks_on_exit_leaves_it_alone(run: Any, scripted: Any) -> None:
    seen: list[Any] = []

    @hook
    def look(state: State) -> None:
        seen.append((state["exit_reason"], state["step_count"]))

    model = scripted("done")
    result = await run(create_agent(model, [search], hooks={"on_exit": [look]}), {"messages": "go"})
    assert (seen, model.calls, result["exit_reason"]) == ([("text", 1)], 1, "text")


async def test_a_critique_on_a_tool_exit_costs_one_more_turn(
    run: Any, scripted: Any, calling: Any
) -> None:
    @hook
    def critique(state: State) -> None:
        if state["tool_call_counts"]["search"] == 1:
            state.set("messages", [HumanMessage("Search better.")])
            state.set("continue_run", True)

    steps = [calling(("search", {"query": q}), start=n) for n, q in enumerate("ab", 1)]
    agent = create_agent(
        scripted(*steps), [search], hooks={"on_exit": [critique]}, exit_conditions=["search"]
    )
    result = await run(agent, {"messages": "go"})
    assert [m.text for m in result["messages"]][2:] == ["about a", "Search better.", "", "about b"]
    assert (result["exit_reason"], result["step_count"]) == ("search", 2)


@pytest.mark.parametrize(
    "point", ["before_run", "before_llm", "after_run", "before_tool", "after_tool"]
)
async def test_going_on_means_something_on_exit_only(
    run: Any, scripted: Any, calling: Any, point: str
) -> None:
    @hook
    def go_on(state: State) -> None:
        state.set("continue_run", True)

    model = scripted(calling(("search", {"query": "a"})), "done")
    result = await run(create_agent(model, [search], hooks={point: [go_on]}), {"messages": "go"})
    assert (model.calls, result["exit_reason"]) == (2, "text")


@pytest.mark.parametrize(
    ("point", "calls", "results"),
    [
        ("before_run", 0, []),
        ("before_llm", 0, []),
        ("before_tool", 1, ["error"]),
        ("after_tool", 1, ["success"]),
    ],
)
async def test_a_stop_takes_effect_at_once(
    run: Any, scripted: Any, calling: Any, point: str, calls: int, results: list[str]
) -> None:
    ended: list[str] = []

    @hook
    def stop(state: State) -> None:
        state.set("stop_run", "tired")

    def later(_state: Any) -> None:
        ended.append("a later hook")

    def after(state: Any) -> None:
        ended.append(state["exit_reason"])

    def never(_state: Any) -> None:
        ended.append("on_exit")

    model = scripted(calling(("search", {"query": "a"})), "never")
    hooks: dict[str, list[Any]] = {point: [stop, later], "after_run": [after], "on_exit": [never]}
    result = await run(create_agent(model, [search], hooks=hooks), {"messages": "go"})
    assert (model.calls, result["exit_reason"]) == (calls, "tired")
    assert [m.status for m in result["messages"] if m.type == "tool"] == results
    assert ended == ["tired"]


async def test_a_stop_after_the_run_means_nothing(run: Any, scripted: Any) -> None:
    @hook
    def stop(state: State) -> None:
        state.set("stop_run", "tired")

    agent = create_agent(scripted("done"), [search], hooks={"after_run": [stop]})
    assert (await run(agent, {"messages": "go"}))["exit_reason"] == "text"


@pytest.mark.parametrize("exits", ["text", "tool", "limit"])
async def test_a_hook_after_the_run_runs_once_however_it_ended(
    run: Any, scripted: Any, calling: Any, exits: str
) -> None:
    @hook
    def report(state: State) -> None:
        state.set("messages", [AIMessage(f"ended by {state['exit_reason']}")])

    asks = calling(("search", {"query": "a"}))
    model = scripted(*(["done"] if exits == "text" else [asks]))
    agent = create_agent(
        model,
        [search],
        hooks={"after_run": [report]},
        exit_conditions=["text", *(["search"] if exits == "tool" else [])],
        max_agent_steps=1,
    )
    result = await run(agent, {"messages": "go"})
    reason = {"text": "text", "tool": "search", "limit": "max_agent_steps"}[exits]
    assert result["messages"][-1].text == f"ended by {reason}"
    assert sum(m.text.startswith("ended") for m in result["messages"]) == 1


async def test_the_step_limit_is_no_exit_that_hooks_may_refuse(
    run: Any, scripted: Any, calling: Any
) -> None:
    ended: list[str] = []

    @hook
    def refuse(state: State) -> None:
        ended.append("on_exit")
        state.set("continue_run", True)

    model = scripted(calling(("search", {"query": "a"})))
    agent = create_agent(model, [search], hooks={"on_exit": [refuse]}, max_agent_steps=1)
    result = await run(agent, {"messages": "go"})
    assert (ended, result["exit_reason"]) == ([], "max_agent_steps")


async def test_a_run_that_fails_skips_what_comes_after_it(run: Any, scripted: Any) -> None:
    ended: list[str] = []

    def after(_state: Any) -> None:
        ended.append("after_run")

    @hook
    def fail(state: State) -> None:
        raise KeyError(*state["messages"])

    agent = create_agent(scripted("x"), [], hooks={"on_exit": [fail], "after_run": [after]})
    with pytest.raises(KeyError, match="go"):
        await run(agent, {"messages": "go"})
    assert ended == []


async def test_an_exit_that_was_refused_leaves_no_reason(run: Any, scripted: Any) -> None:
    seen: list[Any] = []

    @hook
    def insist(state: State) -> None:
        seen.append(state.get("exit_reason"))
        state.set("continue_run", len(seen) == 2)

    @hook
    def look(state: State) -> None:
        seen.append(state.get("exit_reason"))

    hooks = {"on_exit": [insist], "before_llm": [look]}
    await run(create_agent(scripted("a", "b"), [search], hooks=hooks), {"messages": "go"})
    assert seen == [None, "text", None, "text"]
