"""Hooks at the points of a run: their order, and what they see and rewrite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage

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
