"""An agent that hands the conversation over to a peer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Command, Send
from pydantic import BaseModel

from interlock.graph import AgentState, handoff_tool
from interlock.middleware import AgentMiddleware
from interlock.state.errors import ConfigurationError, InvalidUpdateError

Calling = Callable[..., AIMessage]
Agents = Callable[..., Any]
GO: dict[str, Any] = {"messages": [HumanMessage("go")]}
TO_Y = "transfer_to_y"


def noting(key: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A node that notes a value of its state."""
    return lambda state: {"notes": [state[key]]}


async def test_the_conversation_goes_on_with_the_peer(
    run: Any, agents: Agents, peer: Any, calling: Calling, thread: Any, stored: Any,
    assert_valid: Any, team: Any,
) -> None:  # fmt: skip
    x = agents("x", calling((TO_Y, {})), "never", tools=[handoff_tool("y")])
    result = await run(team(x, peer, **stored), GO, thread)
    assert [m.text for m in result["messages"]] == [
        "go", "", "The conversation was handed over to 'y'.", "y is here",
    ]  # fmt: skip
    assert_valid(result["messages"])
    assert [m.name for m in result["messages"] if m.type == "ai"] == ["x", "y"]


async def test_the_peer_is_sent_a_valid_history(
    run: Any, agents: Agents, peer: Any, calling: Calling, sent: Any, assert_valid: Any, team: Any
) -> None:
    x = agents("x", calling((TO_Y, {})), tools=[handoff_tool("y")])
    await run(team(x, peer), GO)
    assert_valid(sent[0])
    assert [m.type for m in sent[0]] == ["human", "ai", "tool"]


@pytest.mark.parametrize("order", [0, 1], ids=["first", "last"])
async def test_other_calls_of_the_reply_are_run_and_answered(
    run: Any, agents: Agents, peer: Any, calling: Calling, office: Any, log: list[str],
    thread: Any, stored: Any, assert_valid: Any, order: int, team: Any,
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
    assert_valid: Any, team: Any,
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
    run: Any, agents: Agents, calling: Calling, thread: Any, stored: Any, team: Any
) -> None:
    seen: list[Any] = []

    class Watch(AgentMiddleware[Any, Any, Any]):
        def after_agent(self, state: Any, runtime: Any) -> Any:
            del runtime
            seen.append((state["exit_reason"], state["step_count"]))

    x = agents("x", calling((TO_Y, {})), tools=[handoff_tool("y")], middleware=[Watch()])
    result = await run(team(x, y=noting("exit_reason"), **stored), GO, thread)
    assert (result["notes"], seen) == ([TO_Y], [(TO_Y, 1)])


class XState(AgentState[Any]):
    ticket: str


async def test_shared_state_keys_go_along(
    run: Any, agents: Agents, peer: Any, calling: Calling, thread: Any, stored: Any, team: Any
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
    assert_valid: Any, team: Any,
) -> None:  # fmt: skip
    hand = handoff_tool("y", history=False)
    x = agents("x", calling((TO_Y, {"task": "book it"})), tools=[hand])
    result = await run(team(x, peer, **stored), GO, thread)
    assert [m.text for m in sent[0]] == ["go", "book it"]
    assert_valid(result["messages"])


class Reason(BaseModel):
    reason: str


async def test_arguments_can_update_the_state_around(
    run: Any, agents: Agents, peer: Any, calling: Calling, thread: Any, stored: Any, team: Any
) -> None:
    def update(args: dict[str, Any], runtime: Any) -> dict[str, Any]:
        return {"notes": [args["reason"], runtime.state["messages"][0].text]}

    hand = handoff_tool("y", args_schema=Reason, update=update)
    x = agents("x", calling((TO_Y, {"reason": "money"})), tools=[hand])
    result = await run(team(x, peer, **stored), GO, thread)
    assert result["notes"] == ["money", "go"]
    assert result["messages"][-1].text == "y is here"


async def test_peers_hand_over_there_and_back(
    run: Any,
    agents: Agents,
    calling: Calling,
    thread: Any,
    stored: Any,
    assert_valid: Any,
    team: Any,
) -> None:
    x = agents("x", calling((TO_Y, {})), "x again", tools=[handoff_tool("y")])
    y = agents("y", calling(("transfer_to_x", {}), start=2), tools=[handoff_tool("x")])
    result = await run(team(x, y, **stored), GO, thread)
    assert result["messages"][-1].text == "x again"
    assert_valid(result["messages"])


async def test_an_unknown_peer_is_an_error_that_names_those_there_are(
    run: Any, agents: Agents, peer: Any, calling: Calling, team: Any
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
    run: Any, agents: Agents, peer: Any, calling: Calling, thread: Any, stored: Any, team: Any
) -> None:
    class Stop(AgentMiddleware[Any, Any, Any]):
        def after_tools(self, state: Any, runtime: Any) -> Any:
            del state, runtime
            return {"jump_to": "end", "stop_run": "forbidden"}

    x = agents("x", calling((TO_Y, {})), tools=[handoff_tool("y")], middleware=[Stop()])
    result = await run(team(x, peer, **stored), GO, thread)
    assert result["exit_reason"] == "forbidden"
    assert result["messages"][-1].text.startswith("Nothing was handed over")


async def test_a_stream_shows_the_hand_over_and_then_the_peer(
    agents: Agents, peer: Any, calling: Calling, team: Any
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
    run: Any,
    agents: Agents,
    peer: Any,
    calling: Calling,
    sent: Any,
    thread: Any,
    stored: Any,
    team: Any,
) -> None:
    def leave() -> Command[Any]:
        """Leave."""
        update = {"messages": [HumanMessage("over to you")]}
        return Command(graph=Command.PARENT, goto="y", update=update)

    x = agents("x", calling(("leave", {})), "never", tools=[leave])
    await run(team(x, peer, **stored), GO, thread)
    assert [m.text for m in sent[0]] == ["go", "over to you"]


async def test_work_that_several_calls_send_out_is_all_done(
    run: Any, agents: Agents, calling: Calling, thread: Any, stored: Any, team: Any
) -> None:
    def split(part: str) -> Command[Any]:
        """Send out a part."""
        return Command(graph=Command.PARENT, goto=[Send("work", {"part": part})])

    x = agents("x", calling(("split", {"part": "a"}), ("split", {"part": "b"})), tools=[split])
    result = await run(team(x, work=noting("part"), **stored), GO, thread)
    assert sorted(result["notes"]) == ["a", "b"]


async def test_a_command_for_a_graph_that_is_not_there_is_an_error(
    run: Any, agents: Agents, calling: Calling
) -> None:
    def leave() -> Command[Any]:
        """Leave."""
        return Command(graph=Command.PARENT, goto="y")

    with pytest.raises(InvalidUpdateError, match="the agent runs on its own"):
        await run(agents("x", calling(("leave", {})), tools=[leave]), GO)
