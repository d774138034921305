"""A run, shown node by node."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from interlock.graph import create_agent
from interlock.graph.cli.node_log import NodeLog
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware, block, guardrail
from interlock.state import AgentState
from interlock.tools import tool

QUESTION = {"messages": [("user", "Go")]}


class Watch(AgentMiddleware):
    """Hooks and layers in every node."""

    def before_agent(self, state: Any, runtime: Any) -> None: ...

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(request)

    def after_tools(self, state: Any, runtime: Any) -> dict[str, Any]:  # noqa: ARG002
        return {"messages": []}

    def after_agent(self, state: AgentState, runtime: Any) -> None: ...


@tool
def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word} is a word"


@pytest.fixture
def printed() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def log(printed: io.StringIO) -> NodeLog:
    return NodeLog(Console(file=printed, width=60))


def test_events_come_in_the_order_in_which_they_happened(log: NodeLog, calling: Any) -> None:
    model = ScriptedChatModel([calling(("look_up", {"word": "a"})), "done"])
    agent = create_agent(model, [look_up], middleware=[Watch()])

    result = log.follow(agent, QUESTION, {})

    assert result["messages"][-1].text == "done"
    assert log.events == [
        *("Watch.before_agent", "model", "tool look_up", "Watch.after_tools"),
        *("model", "Watch.after_agent"),
    ]


def test_the_result_is_that_of_invoke(log: NodeLog) -> None:
    def agent() -> Any:
        return create_agent(ScriptedChatModel(["done"]), name="a")

    followed, invoked = log.follow(agent(), QUESTION, {}), agent().invoke(QUESTION)

    assert set(followed) == set(invoked)
    assert followed["exit_reason"] == invoked["exit_reason"]


def test_a_node_is_named_once_and_what_follows_is_indented(
    log: NodeLog, printed: io.StringIO, calling: Any
) -> None:
    model = ScriptedChatModel([calling(("look_up", {"word": "a"})), "done"])
    log.follow(create_agent(model, [look_up], middleware=[Watch()]), QUESTION, {})

    shown = [line.partition(" (")[0] for line in printed.getvalue().splitlines()]
    assert shown == [
        "model    Watch.before_agent changed nothing",
        "         the model called look_up(word='a')",
        "tools    look_up gave a is a word",
        "         Watch.after_tools updated messages",
        "model    the model answered done",
        "end      Watch.after_agent changed nothing",
    ]


def test_a_guardrail_that_ends_the_run_says_why(log: NodeLog, printed: io.StringIO) -> None:
    @guardrail(on="input")
    def closed(_text: str) -> Any:
        return block("Closed.")

    log.follow(create_agent(ScriptedChatModel(["never"]), middleware=[closed]), QUESTION, {})

    assert printed.getvalue() == "model    closed.before_agent stopped the run: closed\n"


def test_a_failing_run_fails_here_too(log: NodeLog) -> None:
    agent = create_agent(ScriptedChatModel([RuntimeError("gone")]))

    with pytest.raises(RuntimeError, match="gone"):
        log.follow(agent, QUESTION, {})


def test_long_lines_are_folded_beside_the_label(log: NodeLog, printed: io.StringIO) -> None:
    log.say("user", "word " * 20)

    first, *rest = printed.getvalue().splitlines()
    assert first.startswith("user     word")
    assert all(line.startswith("         word") and len(line) <= 60 for line in rest)


def test_only_the_label_has_its_colour(printed: io.StringIO) -> None:
    console = Console(file=printed, force_terminal=True, color_system="standard", no_color=False)

    NodeLog(console).say("user", "hello")

    assert printed.getvalue() == "\x1b[1;36muser     \x1b[0mhello\n"


def test_what_would_command_a_terminal_is_shown(log: NodeLog, printed: io.StringIO) -> None:
    log.say("user", "[bold]a[/bold]\x1b[2J\nb")

    assert printed.getvalue() == "user     [bold]a[/bold]\N{REPLACEMENT CHARACTER}[2J b\n"
