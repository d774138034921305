"""A process that is killed while approved calls run."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from interlock.graph import create_agent, pending
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import HumanInTheLoopMiddleware
from interlock.tools import tool

PROGRAM = '''
import os, signal, sys, time
from pathlib import Path
from langchain_core.messages import AIMessage
import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from interlock.graph import answer, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import HumanInTheLoopMiddleware
from interlock.tools import tool

folder, thread = Path(sys.argv[1]), {"configurable": {"thread_id": "t"}}

def stored():
    with SqliteSaver.from_conn_string(str(folder / "threads.sqlite")) as other:
        saved = other.get_tuple(thread)
    return sum(channel == "messages" for _, channel, _ in saved.pending_writes)

@tool
def pay(whom: str) -> str:
    """Pay."""
    with (folder / "ran").open("a") as out:
        out.write(whom + "\\n")
    if whom == "b":
        while not stored():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    return f"paid {whom}"

calls = [{"name": "pay", "args": {"whom": w}, "id": w, "type": "tool_call"} for w in "abc"]
with SqliteSaver.from_conn_string(str(folder / "threads.sqlite")) as saver:
    agent = create_agent(
        ScriptedChatModel([AIMessage("", tool_calls=calls)]), [pay],
        middleware=[HumanInTheLoopMiddleware({"pay": True})], checkpointer=saver,
    )
    agent.invoke({"messages": "go"}, thread, durability="sync")
    yes, no = {"type": "approve"}, {"type": "reject"}
    answer(agent, {"a": yes, "b": yes, "c": no}, thread, durability="sync")
'''


@pytest.mark.slow
def test_finished_call_is_not_run_again_and_nobody_is_asked_again(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-c", PROGRAM, str(tmp_path)]
    killed = subprocess.run(command, check=False, timeout=120, cwd=tmp_path)
    assert killed.returncode == -signal.SIGKILL
    again: list[str] = []

    @tool
    def pay(whom: str) -> str:
        """Pay."""
        again.append(whom)
        return f"paid {whom}"

    thread: Any = {"configurable": {"thread_id": "t"}}
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
        review = HumanInTheLoopMiddleware({"pay": True})
        agent = create_agent(
            ScriptedChatModel(["done"]), [pay], middleware=[review], checkpointer=saver
        )
        assert pending(agent, thread) == []
        result = agent.invoke(None, thread)

    assert sorted((tmp_path / "ran").read_text().split()) == ["a", "b"]
    assert again == ["b"]
    results = {m.tool_call_id: m.text for m in result["messages"] if m.type == "tool"}
    assert (results["a"], results["b"], "rejected" in results["c"]) == ("paid a", "paid b", True)
