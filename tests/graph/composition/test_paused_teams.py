"""A team that pauses anywhere, answered in any order, ends like one that never paused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from interlock.graph import agent_node, agent_tool, create_agent, handoff_tool
from interlock.graph.models import ScriptedChatModel

Plan = Sequence[Sequence[str]]
"""The calls of each reply of an agent."""

PLANS = st.lists(
    st.lists(st.sampled_from(["look", "ask", "ask"]), min_size=1, max_size=2), max_size=2
)
THREAD: Any = {"configurable": {"thread_id": "t"}}


class Team:
    """A front agent that asks two helpers at the same time and hands over to a last agent."""

    def __init__(self, plans: Sequence[Plan], *, pausing: bool, remember: bool) -> None:
        self.log: list[str] = []
        self._pausing = pausing
        x, y = (
            agent_tool(self._agent(name, plan), description="Help.", remember=remember)
            for name, plan in zip("xy", plans, strict=False)
        )
        front = self._agent("front", [["x", "y"], ["x"], ["transfer_to_last"]], x, y, handoff_tool("last"))  # fmt: skip
        last = self._agent("last", plans[2])
        graph: Any = StateGraph(MessagesState).add_node("front", front).add_edge(START, "front")
        graph.add_node("last", agent_node(last))
        self.graph = graph.compile(checkpointer=InMemorySaver())

    def _agent(self, name: str, plan: Plan, *more: Any) -> Any:
        def look() -> str:
            """Look."""
            self.log.append(f"{name} looks")
            return "fine"

        def ask() -> str:
            """Ask."""
            answer = str(interrupt("?")) if self._pausing else "yes"
            self.log.append(f"{name} hears {answer}")
            return answer

        def reply(messages: list[BaseMessage]) -> AIMessage | str:
            start = max(n for n, m in enumerate(messages) if m.type == "human")
            done = sum(m.type == "ai" and m.name == name for m in messages[start:])
            if done >= len(plan):
                return f"{name} is done"
            calls: list[Any] = [
                {
                    "name": tool,
                    "args": {"task": "help"} if tool in "xy" else {},
                    "id": f"{name}-{len(messages)}-{n}",
                    "type": "tool_call",
                }
                for n, tool in enumerate(plan[done])
            ]
            return AIMessage("", tool_calls=calls)

        model = ScriptedChatModel([reply], repeat_last=True)
        return create_agent(model, [look, ask, *more], name=name)

    def run(self, choose: Any) -> list[tuple[str, str]]:
        """Answer one pause after the other until the end."""
        result = self.graph.invoke({"messages": "go"}, THREAD)
        while waiting := result.get("__interrupt__"):
            ids = sorted({i.id for i in waiting})
            result = self.graph.invoke(Command(resume={choose(ids): "yes"}), THREAD)
        return [(m.type, m.text) for m in result["messages"]]


@settings(max_examples=6, deadline=None)
@given(plans=st.tuples(PLANS, PLANS, PLANS), remember=st.booleans(), data=st.data())
def test_a_paused_team_ends_like_one_that_never_paused(
    plans: tuple[Plan, Plan, Plan], remember: bool, data: st.DataObject
) -> None:
    paused = Team(plans, pausing=True, remember=remember)
    plain = Team(plans, pausing=False, remember=remember)

    def choose(ids: list[str]) -> str:
        return data.draw(st.sampled_from(ids))

    ended = paused.run(choose)
    assert ended == plain.run(None)
    assert sorted(paused.log) == sorted(plain.log)
