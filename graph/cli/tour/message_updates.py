"""Messages of a thread that are replaced by their id, and removed."""

from __future__ import annotations

from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    MessageLikeRepresentation,
    RemoveMessage,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import add_messages

from ....middleware import before_model
from ....state.schema import AgentState
from ...agent import create_agent
from .stage import Stage

TITLE = "Messages replaced and removed"
WHAT_FOR = "The key messages adds; an id that is known replaces, a RemoveMessage removes."


@before_model(can_jump_to=["end"])
def tidy_up(state: AgentState) -> dict[str, Any]:
    """Shorten the question, take the first message out, and end the run."""
    first, last = state["messages"][0], state["messages"][-1]
    changes = [RemoveMessage(str(first.id)), HumanMessage("(shortened)", id=last.id)]
    return {"messages": changes, "jump_to": "end"}


def show(stage: Stage) -> None:
    """Change lists of messages: in plain Python, then in the thread of an agent."""
    before: list[MessageLikeRepresentation] = [
        HumanMessage("Hello", id="1"),
        AIMessage("Hello!", id="2"),
    ]
    added = add_messages(before, AIMessage("What can I do for you?", id="3"))
    stage.claim(f"a new id adds: {texts(added)}", holds=ids(added) == ["1", "2", "3"])
    replaced = add_messages(before, AIMessage("Good morning!", id="2"))
    stage.claim(
        f"a known id replaces: {texts(replaced)}",
        holds=texts(replaced) == ["Hello", "Good morning!"],
    )
    removed = add_messages(before, RemoveMessage("1"))
    stage.claim(f"RemoveMessage removes: {texts(removed)}", holds=ids(removed) == ["2"])

    agent = create_agent(stage.model, middleware=[tidy_up], checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "tidy"}}
    agent.update_state(thread, {"messages": before}, as_node="model")
    stage.ask(agent, "A very long question", config=thread)
    kept = agent.get_state(thread).values["messages"]
    stage.claim(
        f"a hook does the same in a thread: {texts(kept)}",
        holds=texts(kept) == ["Hello!", "(shortened)"],
    )


def texts(messages: object) -> list[str]:
    """What the messages of a list say."""
    return [message.text for message in cast("list[BaseMessage]", messages)]


def ids(messages: object) -> list[str | None]:
    """What the messages of a list are called."""
    return [message.id for message in cast("list[BaseMessage]", messages)]
