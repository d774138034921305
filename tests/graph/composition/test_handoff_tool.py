"""An agent that hands the conversation over to a peer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from operator import add
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel

from interlock.graph import AgentState, handoff_tool
from interlock.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from interlock.state.errors import ConfigurationError, InvalidUpdateError

Calling = Callable[..., AIMessage]
Agents = Callable[..., Any]
GO: dict[str, Any] = {"messages": [HumanMessage("go")]}
TO_Y = "transfer_to_y"


class TeamState(MessagesState):
    ticket: str
    exit_reason: str
    notes: Annotated[list[str], add]


def team(*agents: Any, **options: Any) -> Any:
    """A graph with these agents as nodes; it begins with the first one."""
    graph: Any = StateGraph(TeamState)
    for agent in agents:
        graph.add_node(agent.name, agent)
    return graph.add_edge(START, agents[0].name).compile(**options)


def noting(key: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A node that notes a value of its state."""
    return lambda state: {"notes": [state[key]]}


@pytest.fixture(params=[True, False], ids=["stored", "not stored"])
def stored(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"checkpointer": InMemorySaver()} if request.param else {}


@pytest.fixture
def sent() -> list[list[BaseMessage]]:
    """What the model of ``peer`` was sent."""
    return []


@pytest.fixture
def peer(agents: Agents, sent: list[list[BaseMessage]]) -> Any:
    """An agent ``y``."""

    def reply(messages: list[BaseMessage]) -> str:
        sent.append(messages)
        return "y is here"

    return agents("y", reply)


async def test_the_conversation_goes_on_with_the_peer(
    run: Any, agents: Agents, peer: Any, calling: Calling, thread: Any, stored: Any,
    assert_valid: Any,
) -> None:  # fmt: skip
    x = agents("x", calling((TO_Y, {})), "never", tools=[handoff_tool("y")])
    result = await run(team(x, peer, **stored), GO, thread)
    assert [m.text for m in result["messages"]] == [
        "go", "", "The conversation was handed over to 'y'.", "y is here",
    ]  # fmt: skip
    assert_valid(result["messages"])
    assert [m.name for m in result["messages"] if m.type == "ai"] == ["x", "y"]


async def test_the_peer_is_sent_a_valid_history(
    run: Any, agents: Agents, peer: Any, calling: Calling, sent: Any, assert_valid: Any
) -> None:
    x = agents("x", calling((TO_Y, {})), tools=[handoff_tool("y")])
    await run(team(x, peer), GO)
    assert_valid(sent[0])
    assert [m.type for m in sent[0]] == ["human", "ai", "tool"]


@pytest.mark.parametrize("order", [0, 1], ids=["first", "last"])
async def test_other_calls_of_the_reply_are_run_and_answered(
    run: Any, agents: Agents, peer: Any, calling: Calling, office: Any, log: list[str],
    thread: Any, stored: Any, assert_valid: Any, order: int,
) -> None:  # fmt: skip
    calls = [("look", {"what": "a"}), ("look", {"what": "b"})]
    calls.insert(order * 2, (TO_Y, {}))
    x = agents("x", calling(*calls), tools=[handoff_tool("y"), office["look"]])
    result = await run(team(x, peer, **stored), GO, thread)
    assert_valid(result["messages"])
    assert sorted(log) == ["look a", "look b"]
    assert result["messages"][-1].text == "y is here"


async def test_the_first_of_two_hand_overs_counts(
    run: Any, agents: Agents, peer: Any, calling: Calling, thread: Any, stored: Any,
    assert_valid: Any,
) -> None:  # fmt: skip
    z = agents("z", "z is here")
    both = calling((TO_Y, {}), ("transfer_to_z", {}))
    x = agents("x", both, tools=[handoff_tool("z"), handoff_tool("y")])
    result = await run(team(x, peer, z, **stored), GO, thread)
    assert_valid(result["messages"])
    assert result["messages"][-1].text == "y is here"
    refused = result["messages"][3]
    assert (refused.status, "to 'y' with another call" in refused.text) == ("error", True)


async def test_the_run_of_the_agent_ends_with_the_tool_as_its_reason(
    run: Any, agents: Agents, calling: Calling, thread: Any, stored: Any
) -> None:
    seen: list[Any] = []

    class Watch(AgentMiddleware[Any, Any, Any]):
        def after_agent(self, state: Any, runtime: Any) -> Any:
            del runtime
            seen.append((state["exit_reason"], state["step_count"]))

    x = agents("x", calling((TO_Y, {})), tools=[handoff_tool("y")], middleware=[Watch()])
    graph: Any = StateGraph(TeamState).add_node("x", x).add_edge(START, "x")
    graph.add_node("y", noting("exit_reason"))
    result = await run(graph.compile(**stored), GO, thread)
    assert (result["notes"], seen) == ([TO_Y], [(TO_Y, 1)])


class XState(AgentState[Any]):
    ticket: str


async def test_shared_state_keys_go_along(
    run: Any, agents: Agents, peer: Any, calling: Calling, thread: Any, stored: Any
) -> None:
    def book(number: str) -> Command[Any]:
        """Book a ticket."""
        return Command(update={"ticket": number})

    both = calling(("book", {"number": "7"}), (TO_Y, {}))
    x = agents("x", both, tools=[handoff_tool("y"), book], state_schema=XState)
    result = await run(team(x, peer, **stored), {**GO, "ticket": "none"}, thread)
    assert result["ticket"] == "7"


async def test_a_peer_without_history_gets_a_task_and_nothing_else(
    run: Any, agents: Agents, peer: Any, calling: Calling, sent: Any, thread: Any, stored: Any,
    assert_valid: Any,
) -> None:  # fmt: skip
    hand = handoff_tool("y", history=False)
    x = agents("x", calling((TO_Y, {"task": "book it"})), tools=[hand])
    result = await run(team(x, peer, **stored), GO, thread)
    assert [m.text for m in sent[0]] == ["go", "book it"]
    assert_valid(result["messages"])


class Reason(BaseModel):
    reason: str


async def test_arguments_can_update_the_state_around(
    run: Any, agents: Agents, peer: Any, calling: Calling, thread: Any, stored: Any
) -> None:
    def update(args: dict[str, Any], runtime: Any) -> dict[str, Any]:
        return {"notes": [args["reason"], runtime.state["messages"][0].text]}

    hand = handoff_tool("y", args_schema=Reason, update=update)
    x = agents("x", calling((TO_Y, {"reason": "money"})), tools=[hand])
    result = await run(team(x, peer, **stored), GO, thread)
    assert result["notes"] == ["money", "go"]
    assert result["messages"][-1].text == "y is here"


async def test_peers_hand_over_there_and_back(
    run: Any, agents: Agents, calling: Calling, thread: Any, stored: Any, assert_valid: Any
) -> None:
    x = agents("x", calling((TO_Y, {})), "x again", tools=[handoff_tool("y")])
    y = agents("y", calling(("transfer_to_x", {}), start=2), tools=[handoff_tool("x")])
    result = await run(team(x, y, **stored), GO, thread)
    assert result["messages"][-1].text == "x again"
    assert_valid(result["messages"])


async def test_an_unknown_peer_is_an_error_that_names_those_there_are(
    run: Any, agents: Agents, peer: Any, calling: Calling
) -> None:
    x = agents("x", calling(("transfer_to_yy", {})), tools=[handoff_tool("yy")])
    with pytest.raises(ConfigurationError, match=r"no node 'yy'.*Did you mean 'y'\?"):
        await run(team(x, peer), GO)


async def test_an_agent_on_its_own_cannot_hand_over(
    run: Any, agents: Agents, calling: Calling
) -> None:
    x = agents("x", calling((TO_Y, {})), tools=[handoff_tool("y")])
    with pytest.raises(ConfigurationError, match="no node of another graph"):
        await run(x, GO)


def test_a_name_that_providers_refuse_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="give handoff_tool a name"):
        handoff_tool("the other agent")
    assert handoff_tool("the other agent", name="to_other").name == "to_other"


async def test_a_hook_that_sends_the_run_elsewhere_stops_the_hand_over(
    run: Any, agents: Agents, peer: Any, calling: Calling, thread: Any, stored: Any
) -> None:
    class Stop(AgentMiddleware[Any, Any, Any]):
        def after_tools(self, state: Any, runtime: Any) -> Any:
            del state, runtime
            return {"jump_to": "end", "stop_run": "forbidden"}

    x = agents("x", calling((TO_Y, {})), tools=[handoff_tool("y")], middleware=[Stop()])
    result = await run(team(x, peer, **stored), GO, thread)
    assert result["exit_reason"] == "forbidden"
    assert result["messages"][-1].text.startswith("Nothing was handed over")


@pytest.mark.parametrize(("decision", "last"), [("approve", "y is here"), ("reject", "x stays")])
async def test_a_hand_over_can_need_an_approval(
    run: Any, agents: Agents, peer: Any, calling: Calling, thread: Any, decision: str, last: str
) -> None:
    review = HumanInTheLoopMiddleware({TO_Y: True})
    x = agents("x", calling((TO_Y, {})), "x stays", tools=[handoff_tool("y")], middleware=[review])
    graph = team(x, peer, checkpointer=InMemorySaver())
    await run(graph, GO, thread)
    result = await run(graph, Command(resume={"decisions": [{"type": decision}]}), thread)
    assert result["messages"][-1].text == last


async def test_a_pause_beside_a_hand_over_comes_first(
    run: Any, agents: Agents, peer: Any, calling: Calling, office: Any, log: list[str],
    thread: Any, assert_valid: Any,
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
    assert_valid: Any,
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
    run: Any, agents: Agents, peer: Any, calling: Calling, thread: Any, assert_valid: Any
) -> None:
    x = agents("x", calling((TO_Y, {})), tools=[handoff_tool("y")], checkpointer=True)
    graph = team(x, peer, checkpointer=InMemorySaver())
    await run(graph, GO, thread)
    own = {"configurable": {**thread["configurable"], "checkpoint_ns": "x"}}
    kept = await graph.aget_state(own)
    assert [m.type for m in kept.values["messages"]] == ["human", "ai", "tool"]
    assert_valid(kept.values["messages"])


async def test_a_stream_shows_the_hand_over_and_then_the_peer(
    agents: Agents, peer: Any, calling: Calling
) -> None:
    x = agents("x", calling((TO_Y, {})), tools=[handoff_tool("y")])
    graph = team(x, peer)
    kinds = {"subgraphs": True, "stream_mode": "updates"}
    expected = [("x", "model"), ("x", "tools"), ("", "x"), ("y", "model"), ("", "y")]
    for chunks in (
        list(graph.stream(GO, **kinds)),
        [c async for c in graph.astream(GO, **kinds)],
    ):
        seen = [("".join(p).split(":")[0], next(iter(u))) for p, u in chunks]
        assert list(dict.fromkeys(seen)) == expected


async def test_a_command_of_a_tool_of_ones_own_takes_along_what_it_says(
    run: Any, agents: Agents, peer: Any, calling: Calling, sent: Any, thread: Any, stored: Any
) -> None:
    def leave() -> Command[Any]:
        """Leave."""
        update = {"messages": [HumanMessage("over to you")]}
        return Command(graph=Command.PARENT, goto="y", update=update)

    x = agents("x", calling(("leave", {})), "never", tools=[leave])
    await run(team(x, peer, **stored), GO, thread)
    assert [m.text for m in sent[0]] == ["go", "over to you"]


async def test_work_that_several_calls_send_out_is_all_done(
    run: Any, agents: Agents, calling: Calling, thread: Any, stored: Any
) -> None:
    def split(part: str) -> Command[Any]:
        """Send out a part."""
        return Command(graph=Command.PARENT, goto=[Send("work", {"part": part})])

    x = agents("x", calling(("split", {"part": "a"}), ("split", {"part": "b"})), tools=[split])
    graph: Any = StateGraph(TeamState).add_node("x", x).add_edge(START, "x")
    graph.add_node("work", noting("part"))
    result = await run(graph.compile(**stored), GO, thread)
    assert sorted(result["notes"]) == ["a", "b"]


async def test_a_command_for_a_graph_that_is_not_there_is_an_error(
    run: Any, agents: Agents, calling: Calling
) -> None:
    def leave() -> Command[Any]:
        """Leave."""
        return Command(graph=Command.PARENT, goto="y")

    with pytest.raises(InvalidUpdateError, match="the agent runs on its own"):
        await run(agents("x", calling(("leave", {})), tools=[leave]), GO)


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
