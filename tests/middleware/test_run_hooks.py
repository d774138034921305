from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import SystemMessage

from interlock.graph import create_agent
from interlock.middleware import AgentMiddleware
from interlock.state import ConfigurationError
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


def test_an_unknown_point_is_refused(scripted: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"'before_lunch'.*before_llm"):
        create_agent(scripted("x"), [], hooks={"before_lunch": []})


@pytest.mark.parametrize("hook", [7, "name", object()])
def test_what_is_no_hook_is_refused(scripted: Any, hook: Any) -> None:
    with pytest.raises(ConfigurationError, match="no hook"):
        create_agent(scripted("x"), [], hooks={"on_exit": [hook]})


def test_a_hook_may_say_where_it_belongs(scripted: Any) -> None:
    class OnlyTools:
        allowed_hook_points = ("before_tool",)

        def run(self, state: Any) -> None:
            """Do nothing."""

    create_agent(scripted("x"), [], hooks={"before_tool": [OnlyTools()]})
    with pytest.raises(ConfigurationError, match=r"'OnlyTools'.*'before_tool'.*'on_exit'"):
        create_agent(scripted("x"), [], hooks={"on_exit": [OnlyTools()]})


def test_a_hook_that_asks_for_too_much_is_refused(scripted: Any) -> None:
    def greedy(state: Any, runtime: Any, more: Any) -> None:
        """Do nothing."""

    with pytest.raises(ConfigurationError, match="more"):
        create_agent(scripted("x"), [], hooks={"on_exit": [greedy]})
