"""Replies as a model gives them, and the outcome of reading them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall

from interlock.graph.structured_output import ActiveOutput, OutputPlan

Replies = Callable[..., AIMessage]
Activate = Callable[[Any], ActiveOutput]


def reply(*calls: tuple[str, Any], text: str = "", **metadata: Any) -> AIMessage:
    """A reply with calls ("name", arguments); arguments that are text could not be parsed."""
    numbered = [(f"c{number}", name, args) for number, (name, args) in enumerate(calls)]
    return AIMessage(
        text,
        tool_calls=[
            ToolCall(name=name, args=args, id=ident)
            for ident, name, args in numbered
            if not isinstance(args, str)
        ],
        invalid_tool_calls=[
            InvalidToolCall(name=name, args=args, id=ident, error=None, type="invalid_tool_call")
            for ident, name, args in numbered
            if isinstance(args, str)
        ],
        response_metadata=metadata,
    )


def activate(response_format: Any) -> ActiveOutput:
    """The strategy that a model without native structured output is given."""
    active = OutputPlan.from_response_format(response_format).resolve(response_format, "a-model")
    assert active is not None
    return active


@pytest.fixture(name="reply")
def reply_fixture() -> Replies:
    return reply


@pytest.fixture(name="activate")
def activate_fixture() -> Activate:
    return activate
