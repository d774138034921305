"""Values put aside under tokens come back in whatever the answer of a run is."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from interlock.graph import create_agent
from interlock.graph.models.scripted import ScriptedChatModel
from interlock.graph.structured_output import ToolStrategy
from interlock.middleware import PIIMiddleware

Run = Callable[..., Awaitable[dict[str, Any]]]

THREAD: Any = {"configurable": {"thread_id": "t"}}
SAID = "kim@example.com"


@dataclass
class Contact:
    """Whom to write to."""

    mail: str


@tool(return_direct=True)
def write(to: str) -> str:
    """Write a letter."""
    return f"written to {to}"


def calling(name: str, key: str) -> Callable[[list[BaseMessage]], AIMessage]:
    """A reply that calls a tool with the token that the model was sent."""

    def reply(messages: list[BaseMessage]) -> AIMessage:
        found = re.search(r"<email:[0-9a-f]{12}>", repr(messages))
        args = {key: "nothing" if found is None else found[0]}
        return AIMessage("", tool_calls=[{"name": name, "args": args, "id": "c1"}])

    return reply


async def test_structured_answer_that_is_a_dataclass_gets_its_values_back(run: Run) -> None:
    model = ScriptedChatModel([calling("Contact", "mail")])
    pii = PIIMiddleware("email", strategy="token")
    agent = create_agent(model, response_format=ToolStrategy(Contact), middleware=[pii])

    result = await run(agent, {"messages": f"write to {SAID}"})

    assert result["structured_response"] == Contact(SAID)


async def test_result_that_is_the_answer_gets_its_values_back_and_is_covered_later(
    run: Run,
) -> None:
    model = ScriptedChatModel([calling("write", "to"), "bye"])
    pii = PIIMiddleware("email", strategy="token", apply_to_tool_results=True)
    agent = create_agent(model, [write], middleware=[pii], checkpointer=InMemorySaver())

    result = await run(agent, {"messages": f"write to {SAID}"}, THREAD)
    await run(agent, {"messages": "and now?"}, THREAD)

    assert result["messages"][-1].text == f"written to {SAID}"
    assert SAID not in repr(model.requests)
