"""Compactors, run as the middleware runs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import isgenerator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from interlock.middleware.flows import drive


def characters(messages: Sequence[BaseMessage]) -> int:
    return sum(len(m.text) for m in messages)


@pytest.fixture(scope="session")
def size() -> Callable[[Sequence[BaseMessage]], int]:
    """A token counter: one for each character."""
    return characters


@pytest.fixture(scope="session")
def compacted() -> Callable[..., Any]:
    """``compacted(compactor, messages, target)``: what it returns, flows driven to their end."""

    def compact(compactor: Any, messages: list[BaseMessage], target: int) -> Any:
        made = compactor.compact(messages, target, characters)
        return drive(made, lambda _: None) if isgenerator(made) else made

    return compact


@pytest.fixture(scope="session")
def step() -> Callable[..., list[BaseMessage]]:
    """``step("a", "b", length=100)``: a reply that calls tools a and b, and their results."""

    def make(*names: str, length: int = 100) -> list[BaseMessage]:
        calls: list[Any] = [{"name": n, "args": {}, "id": f"c-{n}"} for n in names]
        results = [
            ToolMessage(n * length, tool_call_id=f"c-{n}", name=n, id=f"m-{n}") for n in names
        ]
        return [AIMessage("", tool_calls=calls, id=f"ai-{names}"), *results]

    return make


@pytest.fixture(scope="session")
def turn() -> Callable[..., list[BaseMessage]]:
    """``turn("x", 100)``: a question and its answer, 100 characters together."""

    def make(text: str, length: int = 100) -> list[BaseMessage]:
        half = text * (length // 2)
        return [HumanMessage(half, id=f"q-{text}"), AIMessage(half, id=f"a-{text}")]

    return make
