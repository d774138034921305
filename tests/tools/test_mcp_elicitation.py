from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command
from pydantic import ValidationError
from typing_extensions import TypedDict

from interlock.tools.mcp_elicitation import ask, question_of

THREAD: Any = {"configurable": {"thread_id": "t"}}
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


class State(TypedDict, total=False):
    answer: Any


def graph(question: dict[str, Any]) -> Any:
    def node(state: State) -> State:  # noqa: ARG001 - langgraph gives it
        return {"answer": ask(question)}

    builder = StateGraph(State)
    builder.add_node("ask", node)
    builder.add_edge(START, "ask")
    return builder.compile(checkpointer=InMemorySaver())


def test_question_names_server_tool_and_what_is_wanted() -> None:
    form = SimpleNamespace(message="How many?", mode="form", requested_schema=NUMBER)
    page = SimpleNamespace(message="Log in", mode="url", url="https://example.com")

    assert question_of("s", "t", form)["schema"] == NUMBER
    assert question_of("s", "t", page) == {
        "type": "mcp_elicitation",
        "server": "s",
        "tool": "t",
        "message": "Log in",
        "url": "https://example.com",
    }


def test_answer_that_fits_goes_on() -> None:
    agent = graph({"message": "How many?", "schema": NUMBER})
    agent.invoke({}, THREAD)
    answer = {"action": "accept", "content": {"n": 3}}

    assert agent.invoke(Command(resume=answer), THREAD)["answer"] == answer


@pytest.mark.parametrize(
    "answer",
    [3, {"action": "accept"}, {"action": "accept", "content": {"n": "x"}}, {"action": "no"}],
)
def test_answer_that_does_not_fit_can_be_given_again(answer: Any) -> None:
    agent = graph({"message": "How many?", "schema": NUMBER})
    agent.invoke({}, THREAD)

    with pytest.raises(ValidationError):
        agent.invoke(Command(resume=answer), THREAD)
    assert agent.invoke(Command(resume={"action": "decline"}), THREAD)["answer"] == {
        "action": "decline"
    }


def test_question_with_a_broken_schema_can_only_be_declined() -> None:
    agent = graph({"message": "?", "schema": {"type": "nonsense"}})
    agent.invoke({}, THREAD)

    with pytest.raises(ValidationError, match="not valid"):
        agent.invoke(Command(resume={"action": "accept", "content": {}}), THREAD)
    assert (
        agent.invoke(Command(resume={"action": "cancel"}), THREAD)["answer"]["action"] == "cancel"
    )
