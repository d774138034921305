"""What was said in a thread, read without the agent that it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast

from langchain_core.messages import AnyMessage, BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from ...state.channels import MessagesChannel
from ...state.errors import StorageError
from .database import ThreadDatabase


@dataclass(frozen=True)
class Conversation:
    """The end of a conversation."""

    messages: Sequence[BaseMessage]
    """The last messages, oldest first."""
    earlier: int = 0
    """How many messages came before them."""


def read_conversation(database: ThreadDatabase, thread_id: str, last: int = 50) -> Conversation:
    """The last messages of a thread; none if it holds no messages.

    Args:
        database: Where the thread is.
        thread_id: The thread.
        last: How many messages.

    Raises:
        StorageError: The database or what is stored of the thread cannot be read.
    """
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    with database.reader() as saver:
        values = _values(saver, config)
    found: Any = cast("dict[str, Any]", values).get("messages") if values else None
    messages = [m for m in cast("list[Any]", found or []) if isinstance(m, BaseMessage)]
    return Conversation(messages[-last:], max(0, len(messages) - last))


def _values(saver: BaseCheckpointSaver[Any], config: RunnableConfig) -> Any:
    try:
        return _reading(saver).get_state(config).values
    except (ValueError, TypeError, LookupError, AttributeError, NotImplementedError) as error:
        # The bytes may be anything.
        msg = (
            f"The checkpoint of thread {config.get('configurable', {})['thread_id']!r} cannot be "
            f"read: {type(error).__name__}. Its program may still know it."
        )
        raise StorageError(msg) from error


class _Thread(TypedDict):
    messages: Annotated[list[AnyMessage], MessagesChannel()]


def _reading(saver: BaseCheckpointSaver[Any]) -> CompiledStateGraph[Any, Any, Any, Any]:
    """A graph that knows the messages of any agent and does nothing."""
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(_Thread)
    graph.add_node("nothing", _nothing)
    graph.add_edge(START, "nothing")
    return graph.compile(checkpointer=saver)


def _nothing(state: _Thread) -> dict[str, Any]:  # noqa: ARG001 - a node takes the state
    return {}
