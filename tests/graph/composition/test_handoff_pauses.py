"""A hand over beside a pause, or after one: it is not lost, and its history is valid."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import handoff_tool
from interlock.middleware import AgentMiddleware, HumanInTheLoopMiddleware

Calling = Callable[..., AIMessage]
Agents = Callable[..., Any]
GO: dict[str, Any] = {"messages": [HumanMessage("go")]}
TO_Y = "transfer_to_y"


@pytest.mark.parametrize(("decision", "last"), [("approve", "y is here"), ("reject", "x stays")])
async def test_a_hand_over_can_need_an_approval(
    run: Any,
    agents: Agents,
    peer: Any,
    calling: Calling,
    thread: Any,
    decision: str,
    last: str,
    team: Any,
) -> None:
    review = HumanInTheLoopMiddleware({TO_Y: True})
    x = agents("x", calling((TO_Y, {})), "x stays", tools=[handoff_tool("y")], middleware=[review])
    graph = team(x, peer, checkpointer=InMemorySaver())
    await run(graph, GO, thread)
    result = await run(graph, Command(resume={"decisions": [{"type": decision}]}), thread)
    assert result["messages"][-1].text == last


async def test_a_pause_beside_a_hand_over_comes_first(
    run: Any, agents: Agents, peer: Any, calling: Calling, office: Any, log: list[str],
    thread: Any, assert_valid: Any, team: Any,
) -> None:  # fmt: skip
    both = calling((TO_Y, {}), ("ask", {"question": "sure?"}))
    x = agents("x", both, tools=[handoff_tool("y"), office["ask"]])
    graph = team(x, peer, checkpointer=InMemorySaver())
    paused = await run(graph, GO, thread)
    assert [i.value for i in paused["__interrupt__"]] == ["sure?"]
    result = await run(graph, Command(resume="yes"), thread)
    assert (result["messages"][-1].text, log) == ("y is here", ["sure? yes"])
    assert_valid(result["messages"])


@pytest.mark.parametrize("others", [0, 1], ids=["alone", "beside another call"])
async def test_a_hook_that_pauses_after_the_call_keeps_the_hand_over(
    run: Any, agents: Agents, peer: Any, calling: Calling, office: Any, thread: Any, others: int,
    assert_valid: Any, team: Any,
) -> None:  # fmt: skip
    class Ask(AgentMiddleware[Any, Any, Any]):
        def after_tools(self, state: Any, runtime: Any) -> Any:
            del state, runtime
            interrupt("really?")

    calls = calling((TO_Y, {}), *[("look", {"what": "a"})] * others)
    tools = [handoff_tool("y"), office["look"]]
    x = agents("x", calls, "never", tools=tools, middleware=[Ask()])
    graph = team(x, peer, checkpointer=InMemorySaver())
    await run(graph, GO, thread)
    result = await run(graph, Command(resume="yes"), thread)
    assert result["messages"][-1].text == "y is here"
    assert_valid(result["messages"])


async def test_an_agent_with_a_history_of_its_own_keeps_a_valid_one(
    run: Any, agents: Agents, peer: Any, calling: Calling, thread: Any, assert_valid: Any, team: Any
) -> None:
    x = agents("x", calling((TO_Y, {})), tools=[handoff_tool("y")], checkpointer=True)
    graph = team(x, peer, checkpointer=InMemorySaver())
    await run(graph, GO, thread)
    own = {"configurable": {**thread["configurable"], "checkpoint_ns": "x"}}
    kept = await graph.aget_state(own)
    assert [m.type for m in kept.values["messages"]] == ["human", "ai", "tool"]
    assert_valid(kept.values["messages"])


PROGRAM = '''
import json, sys
from pathlib import Path
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from interlock.graph import create_agent, handoff_tool
from interlock.graph.models import ScriptedChatModel

def ask() -> str:
    """Ask."""
    return interrupt("sure?")

def call(*names):
    calls = [{"name": n, "args": {}, "id": n, "type": "tool_call"} for n in names]
    return AIMessage("", tool_calls=calls)

x = create_agent(ScriptedChatModel([call("transfer_to_y", "ask")]), [handoff_tool("y"), ask], name="x")
y = create_agent(ScriptedChatModel([call("ask"), "y is here"][int(sys.argv[2]):]), [ask], name="y")
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    graph = StateGraph(MessagesState).add_node("x", x).add_node("y", y).add_edge(START, "x")
    graph = graph.compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    waiting = graph.get_state(config).interrupts
    result = graph.invoke(Command(resume=f"yes {len(saver.get_tuple(config).checkpoint['channel_values']['messages'])}") if waiting else {"messages": "go"}, config)
    print(json.dumps([[m.text for m in result["messages"]], len(result.get("__interrupt__", ()))]))
'''


@pytest.mark.slow
def test_a_hand_over_goes_on_in_new_processes(tmp_path: Path) -> None:
    def step(done: int) -> Any:
        command = [sys.executable, "-P", "-c", PROGRAM, str(tmp_path / "t.sqlite"), str(done)]
        run = subprocess.run(command, check=True, capture_output=True, cwd=tmp_path, timeout=60)
        return json.loads(run.stdout)

    over = "The conversation was handed over to 'y'."
    assert step(0) == [["go"], 1]
    assert step(0) == [["go", "", over, "yes 1"], 1]
    assert step(1) == [["go", "", over, "yes 1", "", "yes 4", "y is here"], 0]
