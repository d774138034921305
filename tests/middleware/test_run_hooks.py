from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from interlock.graph import create_agent
from interlock.middleware import AgentMiddleware, hook
from interlock.state import State
from interlock.tools import tool


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


async def test_hooks_run_at_their_points_in_order(run: Any, scripted: Any, calling: Any) -> None:
    log: list[str] = []

    def note(name: str) -> Any:
        def hook(state: Any) -> None:  # noqa: ARG001
            log.append(name)

        return hook

    points = ["before_run", "before_llm", "before_tool", "after_tool", "on_exit", "after_run"]
    hooks = {point: [note(f"{point} 1"), note(f"{point} 2")] for point in points}
    model = scripted(calling(("search", {"query": "a"})), "done")
    await run(create_agent(model, [search], hooks=hooks), {"messages": "go"})
    order = [
        "before_run",
        "before_llm",
        "before_tool",
        "after_tool",
        "before_llm",
        "on_exit",
        "after_run",
    ]
    assert log == [f"{point} {n}" for point in order for n in (1, 2)]


async def test_hooks_run_like_those_of_a_last_middleware(run: Any, scripted: Any) -> None:
    log: list[str] = []

    class First(AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            log.append("middleware before")

        def after_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            log.append("middleware after")

    async def hook(state: Any) -> None:  # noqa: ARG001
        log.append("hook")

    hooks = {"before_llm": [hook], "after_run": [hook]}
    agent = create_agent(scripted("done"), [], middleware=[First()], hooks=hooks)
    await run(agent, {"messages": "go"})
    assert log == ["middleware before", "hook", "hook", "middleware after"]


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


async def test_an_object_with_run_is_a_hook(run: Any, scripted: Any) -> None:
    class Hook:
        seen: list[str] = []  # noqa: RUF012 - one object, one test

        def run(self, state: Any) -> None:
            self.seen.append(f"sync {len(state['messages'])}")

        async def run_async(self, state: Any) -> None:
            self.seen.append(f"async {len(state['messages'])}")

    hook = Hook()
    await run(create_agent(scripted("x"), [], hooks={"after_run": [hook]}), {"messages": "go"})
    assert hook.seen.pop() in {"sync 2", "async 2"}


def rewriting(change: Callable[[AIMessage], AIMessage]) -> Any:
    """A hook that puts another message in the place of the last one."""

    def rewrite(state: State) -> None:
        state.set("messages", [change(state["messages"][-1])])

    return hook(rewrite)


async def test_a_hook_before_the_run_runs_once_and_rewrites_the_question(
    run: Any, scripted: Any, calling: Any
) -> None:
    model = scripted(calling(("search", {"query": "a"})), "done")
    brief = rewriting(lambda m: m.model_copy(update={"content": f"brief of {m.text}"}))
    result = await run(
        create_agent(model, [search], hooks={"before_run": [brief]}), {"messages": "go"}
    )
    assert [sent[0].text for sent in model.requests] == ["brief of go"] * 2
    assert result["messages"][0].text == "brief of go"


async def test_a_hook_before_the_model_sees_the_size_of_the_last_request(
    run: Any, scripted: Any, calling: Any
) -> None:
    seen: list[tuple[int, int]] = []

    @hook
    def look(state: State) -> None:
        seen.append((state["step_count"], state["context_tokens"]))

    usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    asks = calling(("search", {"query": "a"})).model_copy(update={"usage_metadata": usage})
    agent = create_agent(scripted(asks, "done"), [search], hooks={"before_llm": [look]})
    await run(agent, {"messages": "go"})
    assert seen == [(0, 0), (1, 10)]


async def test_calls_that_a_hook_takes_away_are_not_run(
    run: Any, scripted: Any, calling: Any
) -> None:
    after: list[str] = []

    def look(_state: Any) -> None:
        after.append("after_tool")

    model = scripted(calling(("search", {"query": "a"})), "done")
    take = rewriting(lambda m: AIMessage("never mind", id=m.id))
    hooks = {"before_tool": [take], "after_tool": [look]}
    agent = create_agent(model, [search], hooks=hooks, exit_conditions=["text", "search"])
    result = await run(agent, {"messages": "go"})
    assert [m.text for m in result["messages"]] == ["go", "never mind", "done"]
    assert (model.calls, result["tool_call_counts"], result["step_count"]) == (2, {}, 2)
    assert after == []


async def test_hooks_around_tools_run_only_where_tools_do(
    run: Any, scripted: Any, calling: Any
) -> None:
    log: list[str] = []

    @hook
    def before(state: State) -> None:
        log.append(f"before {state['messages'][-1].tool_calls[0]['args']['query']}")

    @hook
    def after(state: State) -> None:
        log.append(f"after {state['messages'][-1].text}")

    steps = [calling(("search", {"query": "a"})), AIMessage(""), "done"]
    agent = create_agent(
        scripted(*steps), [search], hooks={"before_tool": [before], "after_tool": [after]}
    )
    await run(agent, {"messages": "go"})
    assert log == ["before a", "after about a"]


async def test_a_rewritten_result_does_not_change_the_exit(
    run: Any, scripted: Any, calling: Any
) -> None:
    model = scripted(calling(("search", {"query": "a"})), "never")
    spoil = rewriting(lambda m: m.model_copy(update={"content": "", "status": "error"}))
    agent = create_agent(model, [search], hooks={"after_tool": [spoil]}, exit_conditions=["search"])
    result = await run(agent, {"messages": "go"})
    assert (model.calls, result["exit_reason"]) == (1, "search")
    assert result["messages"][-1].status == "error"


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
