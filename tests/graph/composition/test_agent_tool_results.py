"""What an agent as a tool answers: all it found, in the form that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from interlock.graph import agent_tool
from interlock.state.errors import ConfigurationError

Calling = Callable[..., AIMessage]
Agents = Callable[..., Any]
GO: dict[str, Any] = {"messages": "go"}


def told(result: Any, name: str) -> list[str]:
    """What the calls of a tool were answered."""
    return [m.text for m in result["messages"] if m.type == "tool" and m.name == name]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [({"max_agent_steps": 1}, "max_agent_steps"), ({"max_tokens_total": 1}, "max_tokens_total")],
)
async def test_an_incomplete_result_says_so(
    run: Any, agents: Agents, calling: Calling, used: Any, office: Any,
    settings: dict[str, Any], reason: str,
) -> None:  # fmt: skip
    look = used("so far", 1, 1, tool_calls=calling(("look", {"what": "x"})).tool_calls)
    inner = agents("helper", look, "never", tools=[office["look"]], **settings)
    helper = agent_tool(inner, description="Help.")
    boss = agents("boss", calling(("helper", {"task": "a"})), "done", tools=[helper])
    (text,) = told(await run(boss, GO), "helper")
    assert text.endswith(
        f"[Agent 'helper' stopped before it was done ({reason}); what it says may be incomplete.]"
    )


async def test_a_cut_off_answer_says_so(run: Any, agents: Agents, calling: Calling) -> None:
    cut = AIMessage("half an ans", response_metadata={"finish_reason": "length"})
    helper = agent_tool(agents("helper", cut), description="Help.")
    boss = agents("boss", calling(("helper", {"task": "a"})), "done", tools=[helper])
    (text,) = told(await run(boss, GO), "helper")
    assert text.startswith("half an ans\n\n[Agent 'helper' stopped")
    assert "(length)" in text


async def test_an_exit_tool_is_a_complete_result(
    run: Any, agents: Agents, calling: Calling, office: Any
) -> None:
    look = calling(("look", {"what": "x"}))
    inner = agents("helper", look, tools=[office["look"]], exit_conditions=["look"])
    helper = agent_tool(inner, description="Help.")
    boss = agents("boss", calling(("helper", {"task": "a"})), "done", tools=[helper])
    assert told(await run(boss, GO), "helper") == ["x is fine"]


class Sum(BaseModel):
    total: int


@pytest.mark.parametrize("chosen", [None, "structured_response"])
async def test_a_structured_answer_can_be_the_result(
    run: Any, agents: Agents, calling: Calling, chosen: Any
) -> None:
    inner = agents("helper", calling(("Sum", {"total": 3})), response_format=Sum)
    helper = agent_tool(inner, description="Help.", result=chosen)
    boss = agents("boss", calling(("helper", {"task": "a"})), "done", tools=[helper])
    assert told(await run(boss, GO), "helper") == ['{"total": 3}']


async def test_a_missing_structured_answer_is_an_error_result(
    run: Any, agents: Agents, calling: Calling
) -> None:
    helper = agent_tool(agents("helper", "hi"), description="Help.", result="structured_response")
    boss = agents("boss", calling(("helper", {"task": "a"})), "done", tools=[helper])
    result = await run(boss, GO)
    assert "without the structured answer" in told(result, "helper")[0]
    assert result["messages"][2].status == "error"


async def test_a_function_can_make_the_result(run: Any, agents: Agents, calling: Calling) -> None:
    helper = agent_tool(
        agents("helper", "hi"), description="Help.", result=lambda r: {"steps": r["step_count"]}
    )
    boss = agents("boss", calling(("helper", {"task": "a"})), "done", tools=[helper])
    assert told(await run(boss, GO), "helper") == ['{"steps": 1}']


def test_an_unknown_result_is_refused(agents: Agents) -> None:
    result: Any = "text"
    with pytest.raises(ConfigurationError, match="result is 'text'"):
        agent_tool(agents("helper", "hi"), description="Help.", result=result)


async def test_a_failing_agent_is_an_error_result(
    run: Any, agents: Agents, calling: Calling
) -> None:
    helper = agent_tool(agents("helper", ValueError("no luck")), description="Help.")
    boss = agents("boss", calling(("helper", {"task": "a"})), "done", tools=[helper])
    result = await run(boss, GO)
    assert result["messages"][2].status == "error"
    assert "no luck" in told(result, "helper")[0]
