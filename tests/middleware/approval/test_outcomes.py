"""What becomes of a run when people decide about its calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from interlock.middleware import (
    AlwaysAskPolicy,
    ApprovalMiddleware,
    CallbackUI,
    ConfirmationUIResult,
    HumanInTheLoopStrategy,
    NeverAskPolicy,
)

Run = Callable[..., Awaitable[dict[str, Any]]]
Calling = Callable[..., AIMessage]

GO: dict[str, Any] = {"messages": [HumanMessage("go")]}


def review(asked: list[str], **actions: Any) -> ApprovalMiddleware:
    """Asks about ``burn`` always and about ``send`` never, unless actions say otherwise."""

    def decide(tool_name: str, *_: Any) -> ConfirmationUIResult:
        asked.append(tool_name)
        return ConfirmationUIResult(actions.get(tool_name, "confirm"))

    ui = CallbackUI(decide)
    always = HumanInTheLoopStrategy(confirmation_policy=AlwaysAskPolicy(), confirmation_ui=ui)
    never = HumanInTheLoopStrategy(confirmation_policy=NeverAskPolicy(), confirmation_ui=ui)
    return ApprovalMiddleware({"burn": always, "send": always if "send" in actions else never})


async def test_one_tool_is_always_asked_about_and_another_never(
    desk: Any, run: Run, calling: Calling
) -> None:
    asked: list[str] = []
    calls = calling(("send", {"to": "a"}), ("burn", {"what": "b"}))
    await run(desk.agent_with([review(asked)], calls), GO)
    assert asked == ["burn"]
    assert sorted(desk.did) == ["burn b", "send a x1"]


async def test_a_rejected_call_is_answered_in_place_and_its_message_stays_whole(
    desk: Any, run: Run, calling: Calling
) -> None:
    calls = calling(("burn", {"what": "b"}), ("send", {"to": "a"}), text="I will do both")
    result = await run(desk.agent_with([review([], burn="reject")], calls), GO)
    kinds = [m.type for m in result["messages"]]
    assert kinds == ["human", "ai", "tool", "tool", "ai"]
    assert [c["name"] for c in result["messages"][1].tool_calls] == ["burn", "send"]
    status = {m.tool_call_id: m.status for m in result["messages"] if isinstance(m, ToolMessage)}
    assert status == {"c1": "error", "c2": "success"}
    assert desk.did == ["send a x1"]


async def test_where_all_calls_are_rejected_nothing_runs_and_the_model_answers(
    desk: Any, run: Run, calling: Calling
) -> None:
    calls = calling(("burn", {"what": "b"}), ("send", {"to": "a"}))
    agent = desk.agent_with([review([], burn="reject", send="reject")], calls)
    result = await run(agent, GO)
    assert (desk.did, result["tool_call_counts"]) == ([], {})
    assert (result["step_count"], result["messages"][-1].text) == (2, "done")


async def test_a_tool_that_does_not_exist_is_not_asked_about_and_reported(
    desk: Any, run: Run, calling: Calling
) -> None:
    asked: list[str] = []
    result = await run(desk.agent_with([review(asked)], calling(("bury", {"what": "b"}))), GO)
    (answer,) = (m for m in result["messages"] if isinstance(m, ToolMessage))
    assert (asked, answer.status) == ([], "error")
    assert "burn" in answer.text
