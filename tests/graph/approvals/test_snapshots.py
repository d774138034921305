"""Runs that stop, leave a file, and go on from it in another process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool

from interlock.graph import aresume_snapshot, create_agent, resume_snapshot
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import (
    AgentMiddleware,
    AgentSnapshot,
    ApprovalMiddleware,
    Breakpoint,
    BreakpointConfirmationStrategy,
    BreakpointMiddleware,
    CannotPauseError,
    HITLBreakpointException,
    HumanInTheLoopStrategy,
    InvalidDecisionError,
    NotWaitingError,
    ToolBreakpoint,
    ToolExecutionDecision,
)

Calling = Callable[..., AIMessage]

GO: dict[str, Any] = {"messages": [HumanMessage("go")]}
APPROVE = {"type": "approve"}


class Counting(AgentMiddleware):
    """Counts the runs that begin."""

    def __init__(self) -> None:
        self.begun = 0

    def before_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
        self.begun += 1


class Program:
    """Builds its agent anew each time, as a new process would."""

    def __init__(self, *middleware: Any) -> None:
        self.did: list[str] = []
        self.counting = Counting()
        self.middleware = [self.counting, *middleware]
        self.models: list[ScriptedChatModel] = []

    def agent(self, *replies: Any) -> Any:
        @tool
        def send(to: str) -> str:
            """Send a letter."""
            self.did.append(to)
            return f"sent to {to}"

        self.models.append(ScriptedChatModel([*replies, "done"]))
        return create_agent(self.models[-1], [send], middleware=self.middleware)

    def start(self, *replies: Any) -> HITLBreakpointException:
        with pytest.raises(HITLBreakpointException) as stopped:
            self.agent(*replies).invoke(GO)
        return stopped.value


@pytest.fixture(params=["sync", "async"])
def go_on(request: pytest.FixtureRequest) -> Any:
    """``await go_on(agent, snapshot, decisions)``: the result, in each mode."""

    async def resume(agent: Any, snapshot: Any, decisions: Any = ()) -> Any:
        if request.param == "sync":
            return resume_snapshot(agent, snapshot, decisions)
        return await aresume_snapshot(agent, snapshot, decisions)

    return resume


@pytest.fixture
def gated(tmp_path: Path) -> Program:
    """A program whose calls of ``send`` stop the run."""
    return Program(ApprovalMiddleware({"send": BreakpointConfirmationStrategy(tmp_path)}))


async def test_run_goes_on_from_the_file_with_the_decisions(
    gated: Program, calling: Calling, go_on: Any
) -> None:
    reply = calling(("send", {"to": "a"}), ("send", {"to": "b"}), ("send", {"to": "c"}))
    stopped = gated.start(reply)
    assert (stopped.tool_name, stopped.tool_call_id, gated.did) == ("send", "c1", [])

    edit = {"type": "edit", "edited_action": {"name": "send", "args": {"to": "B"}}}
    decisions = {"c1": APPROVE, "c2": edit, "c3": {"type": "reject", "message": "no"}}
    result = await go_on(gated.agent(), stopped.snapshot_file_path, decisions)
    assert sorted(gated.did) == ["B", "a"]
    assert (result["messages"][-1].text, result["step_count"]) == ("done", 2)
    assert result["tool_call_counts"] == {"send": 2}
    assert gated.counting.begun == 1
    assert [m.calls for m in gated.models] == [1, 1]


async def test_calls_without_a_decision_stop_the_run_again(
    gated: Program, calling: Calling, go_on: Any
) -> None:
    stopped = gated.start(calling(("send", {"to": "a"}), ("send", {"to": "b"})))
    with pytest.raises(HITLBreakpointException) as again:
        await go_on(gated.agent(), stopped.snapshot_file_path, {"c2": APPROVE})
    assert (again.value.tool_call_id, gated.did) == ("c1", [])
    await go_on(gated.agent(), again.value.snapshot_file_path, {"c1": APPROVE})
    assert sorted(gated.did) == ["a", "b"]


async def test_decisions_of_haystack_count_for_the_call_they_name_only(
    gated: Program, calling: Calling, go_on: Any
) -> None:
    stopped = gated.start(calling(("send", {"to": "a"}), ("send", {"to": "b"})))
    with pytest.raises(InvalidDecisionError, match="tool_call_id"):
        await go_on(
            gated.agent(), stopped.snapshot_file_path, [ToolExecutionDecision("send", True)]
        )
    decisions = [
        ToolExecutionDecision("send", True, "c1"),
        ToolExecutionDecision("send", False, "c2", "Not b."),
    ]
    result = await go_on(gated.agent(), stopped.snapshot_file_path, decisions)
    assert gated.did == ["a"]
    assert "Not b." in [m.text for m in result["messages"]]


async def test_decision_about_a_call_that_does_not_wait_is_refused(
    gated: Program, calling: Calling, go_on: Any
) -> None:
    stopped = gated.start(calling(("send", {"to": "a"})))
    with pytest.raises(NotWaitingError, match="'c9'"):
        await go_on(gated.agent(), stopped.snapshot_file_path, {"c9": APPROVE})
    assert gated.did == []


@pytest.mark.parametrize("wrong", [{"type": "aprove"}, {}, None, {"type": "respond"}], ids=str)
async def test_wrong_decision_is_refused_and_the_file_still_counts(
    gated: Program, calling: Calling, go_on: Any, wrong: Any
) -> None:
    stopped = gated.start(calling(("send", {"to": "a"})))
    with pytest.raises(InvalidDecisionError):
        await go_on(gated.agent(), stopped.snapshot_file_path, {"c1": wrong})
    await go_on(gated.agent(), stopped.snapshot_file_path, {"c1": APPROVE})
    assert gated.did == ["a"]


def forged(path: str) -> str:
    """The file, its approved call changed."""
    file = Path(path)
    file.write_text(file.read_text().replace('"to": "a"', '"to": "evil"'))
    return path


async def test_approval_in_a_file_does_not_serve_a_changed_call(
    gated: Program, calling: Calling, go_on: Any
) -> None:
    stopped = gated.start(calling(("send", {"to": "a"}), ("send", {"to": "b"})))
    with pytest.raises(HITLBreakpointException) as again:
        await go_on(gated.agent(), stopped.snapshot_file_path, {"c1": APPROVE})
    path = forged(again.value.snapshot_file_path)
    with pytest.raises(HITLBreakpointException) as third:
        await go_on(gated.agent(), path, {"c2": APPROVE})
    assert (third.value.tool_call_id, gated.did) == ("c1", [])


async def test_pause_that_nothing_would_store_is_an_error_and_not_a_result(
    tmp_path: Path, calling: Calling, go_on: Any
) -> None:
    program = Program(BreakpointMiddleware(ToolBreakpoint(), str(tmp_path)))
    program.middleware.append(ApprovalMiddleware({"send": HumanInTheLoopStrategy()}))
    stopped = program.start(calling(("send", {"to": "a"})))
    with pytest.raises(CannotPauseError):
        await go_on(program.agent(), stopped.snapshot_file_path)
    assert program.did == []


@pytest.mark.parametrize(
    ("point", "tool", "calls", "before", "after"),
    [
        (Breakpoint(), None, 0, [], ["a", "b"]),
        (Breakpoint(visit_count=1), None, 1, ["a"], ["a", "b"]),
        (ToolBreakpoint(tool_name="send"), "send", 1, [], ["a", "b"]),
        (ToolBreakpoint(visit_count=1), "send", 2, ["a"], ["a", "b"]),
    ],
    ids=str,
)
async def test_breakpoint_stops_once_where_it_says(
    tmp_path: Path, calling: Calling, go_on: Any, point: Any, tool: Any, calls: int, before: Any,
    after: Any,
) -> None:  # fmt: skip
    program = Program(BreakpointMiddleware(point, str(tmp_path)))
    replies = [calling(("send", {"to": "a"})), calling(("send", {"to": "b"}), start=2)]
    stopped = program.start(*replies)
    assert (stopped.tool_name, program.models[0].calls, program.did) == (tool, calls, before)

    snapshot = AgentSnapshot.load(stopped.snapshot_file_path)
    result = await go_on(program.agent(*replies[calls:]), snapshot)
    assert (program.did, result["step_count"], result["exit_reason"]) == (after, 3, "text")
