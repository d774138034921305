from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.decisions import BaseDecisionModel, ClassifierResponse, NoulAnswer
from langchain_core.messages import AIMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from pydantic import ValidationError

from interlock.graph import create_agent
from interlock.middleware import AutoModeMiddleware
from interlock.state.errors import RunError
from interlock.state.fatal import is_fatal

Run = Callable[..., Awaitable[dict[str, Any]]]
Scripted = Callable[..., Any]
Calling = Callable[..., AIMessage]


class Classifier(BaseDecisionModel):
    """Gives one probability, or none, or fails."""

    model: str = "test"
    risk: float | None = 0.0
    fails: bool = False
    asked: list[Any] = []  # noqa: RUF012 - pydantic copies it

    @property
    def _provider(self) -> str:
        return "test"

    def _classify(self, state: Any, questions: Any) -> ClassifierResponse:
        self.asked.append((state, questions))
        if self.fails:
            raise ConnectionError
        answers: dict[str, Any] = {}
        if self.risk is not None:
            answers["is_risky"] = NoulAnswer(type="noul", noul=self.risk)
        return ClassifierResponse(model="test", answers=answers)


class Disk:
    """A tool that counts what it did."""

    def __init__(self) -> None:
        self.deleted: list[str] = []

    def delete(self, path: str) -> str:
        """Delete a file."""
        self.deleted.append(path)
        return "deleted"


async def _play(
    run: Run, scripted: Scripted, calling: Calling, guard: AutoModeMiddleware
) -> tuple[Any, list[str]]:
    disk = Disk()
    model = scripted(calling(("delete", {"path": "/a"})), "done")
    agent = create_agent(model, [disk.delete], middleware=[guard])
    result = await run(agent, {"messages": "delete a"})
    return result["messages"][2], disk.deleted


@pytest.mark.parametrize(("risk", "deleted"), [(0.0, ["/a"]), (0.49, ["/a"]), (0.5, []), (1.0, [])])
async def test_call_runs_below_the_threshold_only(
    run: Run, scripted: Scripted, calling: Calling, risk: float, deleted: list[str]
) -> None:
    guard = AutoModeMiddleware(tools=["delete"], classifier=Classifier(risk=risk))
    answer, done = await _play(run, scripted, calling, guard)
    assert done == deleted
    assert (answer.status == "success") is bool(deleted)


async def test_tool_that_is_not_named_is_not_judged(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    classifier = Classifier(risk=1.0)
    guard = AutoModeMiddleware(tools=["other"], classifier=classifier)
    _, done = await _play(run, scripted, calling, guard)
    assert (done, classifier.asked) == (["/a"], [])


async def test_classifier_reads_call_description_and_messages(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    classifier = Classifier(risk=1.0)
    guard = AutoModeMiddleware(tools=[" delete "], classifier=classifier)
    await _play(run, scripted, calling, guard)
    state, _ = classifier.asked[0]
    assert state["tool_call"] == {"id": "c1", "name": "delete", "args": {"path": "/a"}}
    assert state["tool_description"] == "Delete a file."
    assert state["messages"][0].text == "delete a"


@pytest.mark.parametrize("settings", [{"fails": True}, {"risk": None}])
async def test_call_without_a_judgement_is_refused(
    run: Run, scripted: Scripted, calling: Calling, settings: dict[str, Any]
) -> None:
    guard = AutoModeMiddleware(
        tools=["delete"], classifier=Classifier(**settings), on_failure="block"
    )
    answer, done = await _play(run, scripted, calling, guard)
    assert (answer.status, done) == ("error", [])
    assert "could not be judged" in answer.text


@pytest.mark.parametrize(
    ("settings", "error"), [({"fails": True}, ConnectionError), ({"risk": None}, RunError)]
)
def test_failing_classifier_ends_the_run(settings: dict[str, Any], error: type[Exception]) -> None:
    ran: list[Any] = []

    def run_tool(request: ToolCallRequest) -> Any:
        ran.append(request)

    call: Any = {"name": "delete", "args": {}, "id": "c1", "type": "tool_call"}
    runtime: Any = None
    request = ToolCallRequest(tool_call=call, tool=None, state={}, runtime=runtime)
    guard = AutoModeMiddleware(tools=["delete"], classifier=Classifier(**settings))
    with pytest.raises(error) as caught:
        guard.wrap_tool_call(request, run_tool)
    assert is_fatal(caught.value)
    assert ran == []


@pytest.mark.parametrize(
    "settings",
    [{"tools": []}, {"tools": "delete"}, {"tools": ["delete"], "threshold": 0.0}],
)
def test_wrong_setting_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AutoModeMiddleware(classifier=Classifier(), **settings)
