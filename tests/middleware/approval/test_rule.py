"""Rules: which tools are reviewed, and what is refused when they are written down."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Command

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import (
    HumanInTheLoopMiddleware,
)
from interlock.state import ConfigurationError

Run = Callable[..., Awaitable[dict[str, Any]]]
Calling = Callable[..., AIMessage]
Texts = Callable[[dict[str, Any]], dict[str, str]]

THREAD: dict[str, Any] = {"configurable": {"thread_id": "t"}}
GO: dict[str, Any] = {"messages": [HumanMessage("go")]}
APPROVE = {"type": "approve"}
REJECT = {"type": "reject"}


def answer(*decisions: Any) -> Command[Any]:
    return Command(resume={"decisions": list(decisions)})


def edit(name: str, **args: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": args}}


@pytest.mark.parametrize(
    ("rule", "named"),
    [
        ({"sned": True}, "'sned'.*Did you mean 'send'"),
        ({("send", "brun"): True}, "'brun'"),
        ({"send": {"allowed_decisions": []}}, "'send'"),
        ({"send": {"allowed_decisions": ["aprove"]}}, "'aprove'"),
        ({"send": {"allowed_decisions": "approve"}}, "'approve'"),
        ({"send": {"alowed_decisions": ["approve"]}}, "'alowed_decisions'"),
        ({"send": {"allowed_decisions": ["approve"], "when": True}}, "when=True"),
        ({"send": "yes"}, "'yes'"),
        ({"": True}, "''"),
        ({("send", "*"): True}, r"\*"),
    ],
)
def test_wrong_rule_is_refused_when_the_agent_is_built(desk: Any, rule: Any, named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        desk.agent(interrupt_on=rule)


def test_instance_may_serve_several_agents(desk: Any) -> None:
    review = HumanInTheLoopMiddleware({"send": True})
    create_agent(ScriptedChatModel(["x"]), desk.tools, middleware=[review])
    with pytest.raises(ConfigurationError, match="'send'"):
        create_agent(ScriptedChatModel(["x"]), desk.tools[1:], middleware=[review])
