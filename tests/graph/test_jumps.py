"""Every hook, target and declaration: where a jump leads, or the error it gives."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware, hook_config
from interlock.state.errors import InvalidJumpError

HOOKS = [
    "before_agent",
    "before_model",
    "after_model",
    "before_tools",
    "after_tools",
    "on_exit",
    "after_agent",
]
EVERYWHERE = [*HOOKS, "on_error"]


@tool
def work() -> str:
    """Work."""
    return "worked"


def jumping(point: str, target: Any, declared: list[str] | None, log: list[str]) -> AgentMiddleware:
    """A middleware whose one hook jumps the first time it runs."""

    def hook(_self: Any, _state: Any) -> Any:
        log.append(point)
        return {"jump_to": target} if log.count(point) == 1 else None

    if declared is not None:
        hook = hook_config(can_jump_to=declared)(hook)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    made: AgentMiddleware = type("Jumping", (AgentMiddleware,), {point: hook})()
    return made


def idle() -> AgentMiddleware:
    def nothing(_self: Any, _state: Any) -> None:
        """Do nothing."""

    members: dict[str, Any] = dict.fromkeys(EVERYWHERE, nothing)
    made: AgentMiddleware = type("Idle", (AgentMiddleware,), members)()
    return made


def build(
    middleware: list[AgentMiddleware], point: str | None = None
) -> tuple[Any, ScriptedChatModel]:
    """An agent in whose run each point occurs, ``on_error`` by a model that fails first."""
    call: Any = {"name": "work", "args": {}, "id": "c1", "type": "tool_call"}
    down = ConnectionError("down")
    first = down if point == "on_error" else AIMessage("", tool_calls=[call])
    model = ScriptedChatModel([first, "done", "more", "and more"])
    return create_agent(model, [work], middleware=middleware), model


@pytest.mark.parametrize("point", EVERYWHERE)
@pytest.mark.parametrize("declared", [None, ["end"]])
@pytest.mark.parametrize("first", [True, False])
async def test_a_jump_to_the_end_ends_the_run(
    run: Any, assert_valid: Any, point: str, declared: list[str] | None, first: bool
) -> None:
    log: list[str] = []
    mine = jumping(point, "end", declared, log)
    agent, model = build([mine, idle()] if first else [idle(), mine], point)
    result = await run(agent, {"messages": "go"})
    assert_valid(result["messages"])
    expected = {"before_agent": 0, "before_model": 0, "on_exit": 2, "after_agent": 2}
    assert len(model.requests) == expected.get(point, 1)
    natural = {"after_agent": "text"}
    assert result["exit_reason"] == natural.get(point, "jump")


@pytest.mark.parametrize("point", EVERYWHERE)
@pytest.mark.parametrize("declared", [None, ["model"]])
@pytest.mark.parametrize("first", [True, False])
async def test_a_jump_to_the_model_asks_it(
    run: Any, assert_valid: Any, point: str, declared: list[str] | None, first: bool
) -> None:
    log: list[str] = []
    mine = jumping(point, "model", declared, log)
    agent, model = build([mine, idle()] if first else [idle(), mine], point)
    result = await run(agent, {"messages": "go"})
    assert_valid(result["messages"])
    asked_once_more = point in {"on_exit", "after_agent"}
    assert len(model.requests) == (3 if asked_once_more else 2)
    assert result["exit_reason"] == "text"


@pytest.mark.parametrize("point", ["after_model", "before_tools"])
async def test_a_jump_to_the_tools_runs_pending_calls(run: Any, point: str) -> None:
    agent, _ = build([jumping(point, "tools", None, [])])
    result = await run(agent, {"messages": "go"})
    assert [m.text for m in result["messages"]] == ["go", "", "worked", "done"]


async def test_a_hook_may_bring_the_calls_that_it_jumps_to(run: Any) -> None:
    class Bring(AgentMiddleware):
        def before_agent(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
            call: Any = {"name": "work", "args": {}, "id": "own", "type": "tool_call"}
            return {"messages": [AIMessage("", tool_calls=[call])], "jump_to": "tools"}

    agent = create_agent(ScriptedChatModel(["done"]), [work], middleware=[Bring()])
    result = await run(agent, {"messages": "go"})
    assert [m.text for m in result["messages"]] == ["go", "", "worked", "done"]


@pytest.mark.parametrize("point", ["before_agent", "before_model", "after_tools", "on_exit"])
async def test_a_jump_to_the_tools_without_calls_says_so(run: Any, point: str) -> None:
    agent, _ = build([jumping(point, "tools", None, [])])
    with pytest.raises(InvalidJumpError, match=rf"Jumping\.{point}.*no tool call is pending"):
        await run(agent, {"messages": "go"})


@pytest.mark.parametrize("point", HOOKS)
@pytest.mark.parametrize("target", ["nowhere", 7, "__end__"])
async def test_a_jump_to_an_unknown_place_is_refused(run: Any, point: str, target: Any) -> None:
    agent, _ = build([jumping(point, target, None, [])])
    with pytest.raises(InvalidJumpError, match="does not exist") as caught:
        await run(agent, {"messages": "go"})
    assert caught.value.owner == f"Jumping.{point}"
    assert caught.value.allowed == ("model", "tools", "end")


@pytest.mark.parametrize("point", HOOKS)
async def test_a_jump_outside_the_declared_ones_is_refused(run: Any, point: str) -> None:
    agent, _ = build([jumping(point, "end", ["model"], [])])
    with pytest.raises(InvalidJumpError, match=f"Jumping.{point}.*'end'.*'model'") as caught:
        await run(agent, {"messages": "go"})
    assert (caught.value.target, caught.value.allowed) == ("end", ("model",))


@pytest.mark.parametrize(
    ("target", "declared", "why"),
    [
        ("nowhere", None, "does not exist"),
        (7, None, "does not exist"),
        ("end", ["model"], "was not declared"),
        ("tools", None, "no tool call is pending"),
    ],
)
async def test_a_refused_jump_of_on_error_is_noted_on_the_failure_that_leaves(
    run: Any, target: Any, declared: list[str] | None, why: str
) -> None:
    agent, _ = build([jumping("on_error", target, declared, [])], "on_error")
    with pytest.raises(ConnectionError, match="down") as caught:
        await run(agent, {"messages": "go"})
    (note,) = (n for n in caught.value.__notes__ if "Jumping.on_error failed too" in n)
    assert why in note


def test_a_declaration_of_an_unknown_target_is_refused() -> None:
    with pytest.raises(ValueError, match="'nowhere'"):
        hook_config(can_jump_to=["nowhere"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]


async def test_a_jump_is_gone_after_the_step(run: Any) -> None:
    seen: list[Any] = []

    class Look(AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
            seen.append(state.get("jump_to"))
            return {"jump_to": "model"} if len(seen) == 1 else None

    result = await run(build([Look()])[0], {"messages": "go"})
    assert set(seen) == {None}
    assert "jump_to" not in result


class ToTools(AgentMiddleware):
    def after_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
        return {"jump_to": "tools"} if state["messages"][-1].tool_calls else None


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_jump_to_the_tools_of_an_agent_without_any_answers_the_calls(
    run: Any, stored: Any, thread: Any, calling: Any, streamed: bool
) -> None:
    model = ScriptedChatModel([calling(("a", {}), ("b", {})), "done"])
    agent: Any = create_agent(model, [], middleware=[ToTools()], **stored)
    if streamed:
        result = list(agent.stream({"messages": "go"}, thread, stream_mode="values"))[-1]
    else:
        result = await run(agent, {"messages": "go"}, thread)
    assert [m.type for m in result["messages"]] == ["human", "ai", "tool", "tool", "ai"]
    assert (result["step_count"], result["exit_reason"]) == (2, "text")
