"""A structured answer is checked by what it says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel
from typing_extensions import TypedDict

from interlock.graph import ProviderStrategy, ToolStrategy, create_agent
from interlock.middleware import allow, ask, block, guardrail, revise

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Answer(BaseModel):
    text: str


@dataclass
class Plain:
    text: str


class Loose(TypedDict):
    text: str


def reply(strategy: Any, schema: Any, text: str) -> Any:
    if strategy is ProviderStrategy:
        return json.dumps({"text": text})
    call = {"name": schema.__name__, "args": {"text": text}, "id": "c1", "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


def agent_of(scripted: Any, strategy: Any, schema: Any, verdict: Any) -> Any:
    guard = guardrail("output", name="g")(lambda t: verdict if "SECRET" in t else allow())
    return create_agent(
        scripted(reply(strategy, schema, "a SECRET"), reply(strategy, schema, "fine")),
        [],
        middleware=[guard],
        response_format=strategy(schema),
        checkpointer=InMemorySaver(),
    )


strategies = pytest.mark.parametrize("strategy", [ProviderStrategy, ToolStrategy])


@strategies
async def test_a_blocked_answer_is_not_given(run: Any, scripted: Any, strategy: Any) -> None:
    result = await run(
        agent_of(scripted, strategy, Answer, block("no")), {"messages": "go"}, THREAD
    )
    assert result.get("structured_response") is None
    assert result["exit_reason"] == "g"
    assert [m.text for m in result["messages"]] == ["go", "no"]


@strategies
@pytest.mark.parametrize("schema", [Answer, Plain])
async def test_a_revised_answer_is_read_again(
    run: Any, scripted: Any, strategy: Any, schema: Any
) -> None:
    verdict = revise('{"text": "[hidden]"}')
    result = await run(agent_of(scripted, strategy, schema, verdict), {"messages": "go"}, THREAD)
    assert result["structured_response"] == schema(text="[hidden]")
    assert result["exit_reason"] == "structured_response"
    assert "SECRET" not in repr(result)


@strategies
@pytest.mark.parametrize(
    ("schema", "text"), [(Answer, "no JSON"), (Answer, '{"text": 3}'), (Loose, '{"text": "x"}')]
)
async def test_a_revision_that_cannot_be_shown_to_be_valid_blocks(
    run: Any, scripted: Any, strategy: Any, schema: Any, text: str
) -> None:
    result = await run(
        agent_of(scripted, strategy, schema, revise(text)), {"messages": "go"}, THREAD
    )
    assert result.get("structured_response") is None
    assert result["exit_reason"] == "g"
    assert "SECRET" not in repr(result)


@strategies
@pytest.mark.parametrize("approved", [True, False])
async def test_a_person_may_let_an_answer_pass(
    run: Any, scripted: Any, strategy: Any, approved: bool
) -> None:
    agent = agent_of(scripted, strategy, Answer, ask("give it?"))
    await run(agent, {"messages": "go"}, THREAD)
    result = await run(agent, Command(resume="approve" if approved else "no"), THREAD)
    assert (result.get("structured_response") == Answer(text="a SECRET")) == approved
    assert result["exit_reason"] == ("structured_response" if approved else "g")
    assert ("SECRET" in repr(result)) == approved
