"""A tool that pauses is not begun twice because a hook ran before it."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import agent_tool, create_agent
from interlock.graph.models.scripted import ScriptedChatModel
from interlock.middleware import AgentMiddleware
from interlock.tools import tool

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Noting(AgentMiddleware[Any, Any, Any]):
    """Notes that its hook ran."""

    def __init__(self, did: list[str]) -> None:
        self._did = did

    def before_tools(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
        self._did.append("hook")


@pytest.fixture
def did() -> list[str]:
    return []


async def answered(run: Any, agent: Any) -> Any:
    """The result of a run that pauses once."""
    await run(agent, {"messages": "go"}, THREAD)
    return await run(agent, Command(resume="yes"), THREAD)


@pytest.mark.parametrize("as_tool", [True, False])
async def test_an_agent_inside_a_tool_goes_on_where_it_paused(
    run: Any, calling: Any, did: list[str], as_tool: bool
) -> None:
    @tool
    def mail() -> str:
        """Send a mail."""
        did.append("mail")
        return "sent"

    @tool
    def confirm() -> str:
        """Ask."""
        return str(interrupt("ok?"))

    inner = create_agent(
        ScriptedChatModel([calling(("mail", {})), calling(("confirm", {})), "inner done"]),
        [mail, confirm],
        name="helper",
    )

    @tool("helper")
    def ask_helper() -> str:
        """Ask the helper."""
        return str(inner.invoke({"messages": "go"})["messages"][-1].text)

    helper = agent_tool(inner, description="Helps.") if as_tool else ask_helper
    reply = calling(("helper", {"task": "go"} if as_tool else {}))
    agent = create_agent(
        ScriptedChatModel([reply, "done"]),
        [helper],
        middleware=[Noting(did)],
        checkpointer=InMemorySaver(),
    )

    result = await answered(run, agent)

    assert [m.text for m in result["messages"]][-2:] == ["inner done", "done"]
    assert did == ["hook", "mail"]


async def test_a_tool_of_which_that_cannot_be_seen_is_known_when_it_has_paused(
    run: Any, calling: Any, did: list[str]
) -> None:
    class Hidden:
        ask: Any = staticmethod(interrupt)

    hidden = Hidden()

    @tool
    def unseen() -> str:
        """Ask in a way that nobody sees."""
        did.append("tool")
        return str(hidden.ask("ok?"))

    agent = create_agent(
        ScriptedChatModel(
            [calling(("unseen", {})), "one", calling(("unseen", {}), start=2), "two"]
        ),
        [unseen],
        middleware=[Noting(did)],
        checkpointer=InMemorySaver(),
    )

    await answered(run, agent)
    first = list(did)
    did.clear()
    await answered(run, agent)

    # Up to the pause, again where the pause is stored, and with the answer.
    assert first == ["hook", "tool", "tool", "tool"]
    assert did == ["hook", "tool", "tool"]


async def test_a_tool_that_does_not_pause_costs_no_superstep(
    run: Any, calling: Any, did: list[str]
) -> None:
    @tool
    def count() -> str:
        """Count."""
        return "1"

    steps: list[int] = []
    for middleware in ([], [Noting(did)]):
        agent = create_agent(
            ScriptedChatModel([calling(("count", {})), "done"]),
            [count],
            middleware=middleware,
            checkpointer=InMemorySaver(),
        )
        await run(agent, {"messages": "go"}, THREAD)
        steps.append(next(iter(agent.get_state_history(THREAD))).metadata["step"])  # type: ignore[index]

    assert steps[0] == steps[1]
