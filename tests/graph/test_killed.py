"""A thread whose process is killed in the middle of a batch of tools."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.sqlite import SqliteSaver

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.tools import tool

PROGRAM = '''
import os, signal, sys, time
from pathlib import Path
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.tools import tool

folder = Path(sys.argv[1])

def note(name):
    with (folder / "ran").open("a") as out:
        out.write(name + "\\n")

def stored():
    with SqliteSaver.from_conn_string(str(folder / "threads.sqlite")) as other:
        saved = other.get_tuple({"configurable": {"thread_id": "t"}})
    return sum(channel == "messages" for _, channel, _ in saved.pending_writes)

@tool
def first() -> str:
    """First."""
    note("first")
    return "one"

@tool
def second() -> str:
    """Second."""
    note("second")
    return "two"

@tool
def third() -> str:
    """Third."""
    while stored() < 2:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)

calls = [{"name": n, "args": {}, "id": n, "type": "tool_call"} for n in ("first", "second", "third")]
with SqliteSaver.from_conn_string(str(folder / "threads.sqlite")) as saver:
    agent = create_agent(
        ScriptedChatModel([AIMessage("", tool_calls=calls)]), [first, second, third],
        checkpointer=saver,
    )
    agent.invoke({"messages": "go"}, {"configurable": {"thread_id": "t"}}, durability="sync")
'''


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A folder with the thread of a process that was killed while its third tool ran."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], check=False, timeout=60, cwd=tmp_path
    )
    assert done.returncode == -signal.SIGKILL
    return tmp_path


def agent_over(saver: Any, folder: Path, model: ScriptedChatModel) -> Any:
    def working(name: str) -> Any:
        def work() -> str:
            with (folder / "ran").open("a") as out:
                out.write(f"{name}\n")
            return f"{name} again"

        return tool(name, description=name)(work)

    tools = [working(name) for name in ("first", "second", "third")]
    return create_agent(model, tools, checkpointer=saver)


def test_finished_tools_are_not_run_again(killed: Path, assert_valid: Any, thread: Any) -> None:
    with SqliteSaver.from_conn_string(str(killed / "threads.sqlite")) as saver:
        agent = agent_over(saver, killed, ScriptedChatModel(["done"]))
        result = agent.invoke(None, thread)
    assert sorted((killed / "ran").read_text().split()) == ["first", "second", "third"]
    answers = [m.text for m in result["messages"] if isinstance(m, ToolMessage)]
    assert answers == ["one", "two", "third again"]
    assert_valid(result["messages"])


def test_the_next_message_is_accepted_after_a_kill(
    killed: Path, assert_valid: Any, thread: Any
) -> None:
    with SqliteSaver.from_conn_string(str(killed / "threads.sqlite")) as saver:
        model = ScriptedChatModel(["welcome back"])
        result = agent_over(saver, killed, model).invoke({"messages": "still there?"}, thread)
    assert_valid(model.requests[0])
    assert_valid(result["messages"])
    assert isinstance(result["messages"][-1], AIMessage)
    assert result["messages"][-1].text == "welcome back"
    assert "third" not in (killed / "ran").read_text()
