"""What tests of pictures share: an agent with a hook at every point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from interlock.graph import AgentGraph, create_agent
from interlock.graph.models.scripted import ScriptedChatModel
from interlock.middleware import AgentMiddleware, hook_config
from interlock.tools import tool


@tool
def add_to_cart(item: str) -> str:
    """Put an item into the cart."""
    return item


@pytest.fixture
def guard() -> Callable[..., AgentMiddleware]:
    """``guard(name, *points, **settings)``: a middleware with hooks that do nothing."""

    def make(name: str, *points: str, **settings: Any) -> AgentMiddleware:
        def hook(_self: Any, *_: Any) -> None: ...

        marked = hook_config(**settings)(hook)
        members = {**dict.fromkeys(points, marked), "name": name}
        return cast("AgentMiddleware", type("Guard", (AgentMiddleware,), members)())

    return make


@pytest.fixture
def agent(guard: Callable[..., AgentMiddleware]) -> Callable[..., AgentGraph]:
    """``agent(*middleware)``: an agent with one tool; without arguments, one with every hook."""

    def make(*middleware: AgentMiddleware, **settings: Any) -> AgentGraph:
        every = [
            guard("one", "before_agent", "after_agent", "wrap_model_call", "on_error"),
            guard("two", "before_model", "after_model", "wrap_model_call", "on_error"),
            guard("three", "before_tools", "wrap_tool_call", "after_tools"),
            guard("four", "before_model", "on_exit", "after_agent"),
        ]
        model = ScriptedChatModel(["done"])
        return create_agent(model, [add_to_cart], middleware=middleware or every, **settings)

    return make
