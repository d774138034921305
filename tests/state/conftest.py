"""Random conversations for properties."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage


def _reply(ids: list[Any], invalid: list[str]) -> AIMessage:
    return AIMessage(
        "",
        tool_calls=[{"name": "t", "args": {}, "id": i, "type": "tool_call"} for i in ids],
        invalid_tool_calls=[
            {"name": "t", "args": "{", "id": i, "error": "cut", "type": "invalid_tool_call"}
            for i in invalid
        ],
    )


def _result(ident: str) -> ToolMessage:
    return ToolMessage("result", tool_call_id=ident)


_ids = st.sampled_from(["a", "b", "c", "d"])
_bad_ids = st.sampled_from(["", None, "x" * 300, "a\n", "é"])
_messages = st.one_of(
    st.just(HumanMessage("hi")),
    st.just(SystemMessage("rules")),
    st.just(AIMessage("text")),
    st.builds(_reply, st.lists(st.one_of(_ids, _bad_ids), max_size=3), st.lists(_ids, max_size=1)),
    st.builds(_result, _ids),
)


@pytest.fixture(scope="session")
def histories() -> st.SearchStrategy[list[BaseMessage]]:
    """Conversations put together without any care."""
    return st.lists(_messages, max_size=14)
