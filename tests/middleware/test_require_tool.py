from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage

from interlock.graph import create_agent
from interlock.middleware import RequireTool, hook
from interlock.middleware.require_tool import succeeded
from interlock.state import ConfigurationError, State
from interlock.tools import Toolset, tool


@tool
def save_result(content: str) -> str:
    """Save the final result."""
    if content == "bad":
        raise ValueError(content)
    return "saved"


@pytest.fixture(params=["hook", "middleware"])
def required(request: pytest.FixtureRequest) -> Any:
    """Settings that require ``save_result``, in both ways."""

    def make(**options: Any) -> dict[str, Any]:
        guard = RequireTool("save_result", **options)
        if request.param == "hook":
            return {"hooks": {"on_exit": [guard]}}
        return {"middleware": [guard]}

    return make


async def test_the_run_ends_only_after_the_tool(
    run: Any, scripted: Any, calling: Any, required: Any
) -> None:
    model = scripted("done", calling(("save_result", {"content": "x"})), "saved it")
    agent = create_agent(model, [save_result], **required())
    result = await run(agent, {"messages": "go"})
    told = "Before you finish, call the tool save_result."
    texts = [m.text for m in result["messages"]]
    assert texts == ["go", "done", told, "", "saved", "saved it"]
    assert (model.calls, result["exit_reason"]) == (3, "text")


async def test_a_tool_that_was_called_is_not_asked_for(
    run: Any, scripted: Any, calling: Any, required: Any
) -> None:
    model = scripted(calling(("save_result", {"content": "x"})), "done")
    await run(create_agent(model, [save_result], **required()), {"messages": "go"})
    assert model.calls == 2


async def test_a_failed_call_does_not_count(
    run: Any, scripted: Any, calling: Any, required: Any
) -> None:
    model = scripted(
        calling(("save_result", {"content": "bad"})),
        "done",
        calling(("save_result", {"content": "good"}), start=2),
        "done",
    )
    result = await run(create_agent(model, [save_result], **required()), {"messages": "go"})
    assert (model.calls, result["tool_call_counts"]) == (4, {"save_result": 2})


async def test_the_step_limit_bounds_it(run: Any, scripted: Any, required: Any) -> None:
    model = scripted("no")
    agent = create_agent(model, [save_result], max_agent_steps=3, **required())
    result = await run(agent, {"messages": "go"})
    assert (model.calls, result["exit_reason"]) == (3, "max_agent_steps")


async def test_the_instruction_is_the_users_own(run: Any, scripted: Any, required: Any) -> None:
    model = scripted("no")
    settings = required(instruction="First {tool}!")
    agent = create_agent(model, [save_result], max_agent_steps=2, **settings)
    await run(agent, {"messages": "go"})
    assert [m.text for m in model.requests[1]][-1] == "First save_result!"


def test_a_call_of_an_earlier_run_is_no_call_of_this_one() -> None:
    earlier = [ToolMessage("saved", tool_call_id="c0", name="save_result"), HumanMessage("again")]
    failed = ToolMessage("no", tool_call_id="c1", name="save_result", status="error")
    assert not succeeded(earlier, "save_result", 0)
    assert not succeeded([*earlier, failed], "save_result", 1)
    assert succeeded([*earlier, failed], "save_result", 2)
    assert succeeded([HumanMessage("summary")], "save_result", 1)


@pytest.mark.parametrize("name", ["", " ", None, 7])
def test_a_tool_needs_a_name(name: Any) -> None:
    with pytest.raises(ConfigurationError, match="give the name of a tool"):
        RequireTool(name)


@pytest.mark.parametrize("text", ["", " ", "call {other}", "call {}", "{tool", 7, "{tool.x}"])
def test_an_instruction_is_text_with_one_field(text: Any) -> None:
    with pytest.raises(ConfigurationError, match="instruction"):
        RequireTool("save_result", instruction=text)


@pytest.mark.parametrize("way", ["hook", "middleware"])
def test_a_tool_that_is_not_there_is_named(scripted: Any, way: str) -> None:
    guard = RequireTool("save_reslt")
    settings: Any = {"hooks": {"on_exit": [guard]}} if way == "hook" else {"middleware": [guard]}
    with pytest.raises(ConfigurationError, match=r"'save_reslt'.*Did you mean 'save_result'\?"):
        create_agent(scripted("x"), [save_result], **settings)


def test_a_tool_that_may_come_later_is_believed(scripted: Any) -> None:
    create_agent(scripted("x"), Toolset([save_result]), hooks={"on_exit": [RequireTool("later")]})


def test_it_belongs_to_the_exit(scripted: Any) -> None:
    with pytest.raises(ConfigurationError, match="belongs to 'on_exit'"):
        create_agent(
            scripted("x"), [save_result], hooks={"before_llm": [RequireTool("save_result")]}
        )


async def test_the_same_can_be_written_as_a_hook(run: Any, scripted: Any, calling: Any) -> None:
    @hook
    def require_save(state: State) -> None:
        if state.get("tool_call_counts", {}).get("save_result", 0) == 0:
            state.set("messages", [SystemMessage("Call save_result before finishing.")])
            state.set("continue_run", True)

    model = scripted("done", calling(("save_result", {"content": "x"})), "saved it")
    agent = create_agent(model, [save_result], hooks={"on_exit": [require_save]})
    result = await run(agent, {"messages": "go"})
    assert (model.calls, result["exit_reason"], result["tool_call_counts"]) == (
        3,
        "text",
        {"save_result": 1},
    )
