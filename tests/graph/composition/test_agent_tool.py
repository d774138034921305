"""An agent as a tool of another agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode as LangGraphToolNode
from langgraph.types import Command
from pydantic import BaseModel

from interlock.graph import AgentState, agent_tool, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import TokenBudgetMiddleware
from interlock.state.errors import ConfigurationError, InvalidInputError, ToolExecutionError
from interlock.tools import ToolNode

Calling = Callable[..., AIMessage]
Agents = Callable[..., Any]
GO: dict[str, Any] = {"messages": "go"}


def told(result: Any, name: str) -> list[str]:
    """What the calls of a tool were answered."""
    return [m.text for m in result["messages"] if m.type == "tool" and m.name == name]


async def test_an_agent_answers_a_call_of_another_one(
    run: Any, agents: Agents, calling: Calling, echo: Any
) -> None:
    helper = agent_tool(agents("helper", echo), description="Help.")
    boss = agents("boss", calling(("helper", {"task": "add 1 and 2"})), "done", tools=[helper])
    result = await run(boss, GO)
    assert told(result, "helper") == ["add 1 and 2"]
    assert (result["messages"][-1].text, result["tool_call_counts"]) == ("done", {"helper": 1})


async def test_each_call_begins_a_conversation_of_its_own(
    run: Any, agents: Agents, calling: Calling, echo: Any, thread: Any
) -> None:
    helper = agent_tool(agents("helper", echo), description="Help.")
    calls = [calling(("helper", {"task": n}), start=i) for i, n in enumerate("ab")]
    boss = agents("boss", *calls, "done", tools=[helper], checkpointer=InMemorySaver())
    assert told(await run(boss, GO, thread), "helper") == ["a", "b"]


@pytest.mark.parametrize("said_by", ["tool", "agent"])
async def test_a_remembering_agent_goes_on_with_one_conversation_per_thread(
    run: Any, agents: Agents, calling: Calling, echo: Any, said_by: str
) -> None:
    inner = agents("helper", echo, checkpointer=True if said_by == "agent" else None)
    helper = agent_tool(inner, description="Help.", remember=said_by == "tool")
    calls = [calling(("helper", {"task": n}), start=i) for i, n in enumerate("abc")]
    boss = agents("boss", calls[0], calls[1], "x", calls[2], "y", tools=[helper], checkpointer=InMemorySaver())  # fmt: skip
    one, other = ({"configurable": {"thread_id": t}} for t in "12")
    assert told(await run(boss, GO, one), "helper") == ["a", "a | a | b"]
    assert told(await run(boss, GO, other), "helper")[0] == "c"


async def test_calls_of_a_remembering_agent_wait_for_each_other(
    run: Any, agents: Agents, calling: Calling, echo: Any, thread: Any
) -> None:
    helper = agent_tool(agents("helper", echo), description="Help.", remember=True)
    both = calling(("helper", {"task": "a"}), ("helper", {"task": "b"}))
    boss = agents("boss", both, "done", tools=[helper], checkpointer=InMemorySaver())
    assert told(await run(boss, GO, thread), "helper") == ["a", "a | a | b"]


async def test_two_remembering_agents_do_not_share_a_conversation(
    run: Any, agents: Agents, calling: Calling, echo: Any, thread: Any
) -> None:
    tools = [agent_tool(agents(n, echo), description="Help.", remember=True) for n in ("x", "y")]
    both = calling(("x", {"task": "a"}), ("y", {"task": "b"}))
    boss = agents("boss", both, "done", tools=tools, checkpointer=InMemorySaver())
    result = await run(boss, GO, thread)
    assert (told(result, "x"), told(result, "y")) == (["a"], ["b"])


async def test_remembering_without_a_checkpointer_is_an_error_of_the_program(
    run: Any, agents: Agents, calling: Calling
) -> None:
    helper = agent_tool(agents("helper", "hi"), description="Help.", remember=True)
    boss = agents("boss", calling(("helper", {"task": "a"})), tools=[helper])
    with pytest.raises(ConfigurationError, match="give the calling agent a checkpointer"):
        await run(boss, GO)


class Ticket(BaseModel):
    task: str
    customer: str


class TicketState(AgentState[Any]):
    customer: str


async def test_arguments_become_input_keys_of_the_agent(
    run: Any, agents: Agents, calling: Calling
) -> None:
    inner = agents("helper", "hi", state_schema=TicketState)
    helper = agent_tool(
        inner, description="Help.", args_schema=Ticket,
        result=lambda r: f"{r['customer']}: {r['messages'][0].text}",
    )  # fmt: skip
    asks = calling(("helper", {"task": "pay", "customer": "Ann"}))
    boss = agents("boss", asks, "done", tools=[helper])
    assert told(await run(boss, GO), "helper") == ["Ann: pay"]


async def test_to_input_can_pass_on_the_state_of_the_calling_agent(
    run: Any, agents: Agents, calling: Calling, echo: Any
) -> None:
    def to_input(args: dict[str, Any], runtime: Any) -> dict[str, Any]:
        shared = [m for m in runtime.state["messages"] if isinstance(m, HumanMessage)]
        return {"messages": [*shared, HumanMessage(args["task"])]}

    helper = agent_tool(agents("helper", echo), description="Help.", to_input=to_input)
    boss = agents("boss", calling(("helper", {"task": "a"})), "done", tools=[helper])
    assert told(await run(boss, GO), "helper") == ["go | a"]


async def test_to_input_that_gives_what_is_no_input_is_an_error_of_the_program(
    run: Any, agents: Agents, calling: Calling
) -> None:
    def to_input(args: dict[str, Any], runtime: Any) -> dict[str, Any]:
        del runtime
        return {"messages": args["task"], "mesages": []}

    helper = agent_tool(agents("helper", "hi"), description="Help.", to_input=to_input)
    boss = agents("boss", calling(("helper", {"task": "a"})), tools=[helper])
    with pytest.raises(InvalidInputError, match=r"'mesages'.*Did you mean 'messages'\?"):
        await run(boss, GO)


def test_an_argument_that_is_no_input_is_refused(agents: Agents) -> None:
    with pytest.raises(ConfigurationError, match="Arguments customer of agent tool 'helper'"):
        agent_tool(agents("helper", "hi"), description="Help.", args_schema=Ticket)


def test_an_agent_without_a_name_needs_one() -> None:
    agent = create_agent(ScriptedChatModel(["hi"]))
    with pytest.raises(ConfigurationError, match="no name"):
        agent_tool(agent, description="Help.")
    assert agent_tool(agent, description="Help.", name="helper").name == "helper"


def test_what_is_no_agent_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="is no agent"):
        agent_tool(ScriptedChatModel(["hi"]), description="Help.", name="x")


async def test_any_graph_with_messages_can_be_a_tool(
    run: Any, agents: Agents, calling: Calling
) -> None:
    def answer(state: MessagesState) -> Any:
        return {"messages": [AIMessage(f"said {state['messages'][-1].text}")]}

    graph: Any = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer")
    plain = agent_tool(graph.compile(), description="Help.", name="plain")
    boss = agents("boss", calling(("plain", {"task": "a"})), "done", tools=[plain])
    assert told(await run(boss, GO), "plain") == ["said a"]


@pytest.mark.parametrize("kind", [ToolNode, LangGraphToolNode], ids=["ours", "langgraph's"])
async def test_an_agent_tool_works_in_a_tool_node(
    run: Any, agents: Agents, calling: Calling, office: Any, thread: Any, kind: Any
) -> None:
    inner = agents("helper", calling(("ask", {"question": "q"})), "ok", tools=[office["ask"]])
    node = kind([agent_tool(inner, description="Help.")])
    graph: Any = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools")
    compiled = graph.compile(checkpointer=InMemorySaver())
    asks = {"messages": [HumanMessage("go"), calling(("helper", {"task": "a"}))]}
    paused = await run(compiled, asks, thread)
    assert [i.value for i in paused["__interrupt__"]] == ["q"]
    assert told(await run(compiled, Command(resume="yes"), thread), "helper") == ["ok"]


async def test_usage_of_the_agent_is_part_of_the_calling_run(
    run: Any, agents: Agents, calling: Calling, used: Any
) -> None:
    helper = agent_tool(agents("helper", used("hi", 30, 4)), description="Help.")
    asks = used("", 5, 1, tool_calls=calling(("helper", {"task": "a"})).tool_calls)
    boss = agents("boss", asks, used("done", 6, 1), tools=[helper])
    result = await run(boss, GO)
    assert result["token_usage"]["total_tokens"] == 47
    assert result["context_tokens"] == 7


async def test_usage_of_an_agent_of_an_agent_adds_up(
    run: Any, agents: Agents, calling: Calling, used: Any
) -> None:
    lowest = agent_tool(agents("lowest", used("hi", 100, 0)), description="Help.")
    asks = used("", 10, 0, tool_calls=calling(("lowest", {"task": "a"})).tool_calls)
    middle = agent_tool(agents("middle", asks, used("ok", 1, 0), tools=[lowest]), description="M.")
    boss = agents("boss", calling(("middle", {"task": "a"})), "done", tools=[middle])
    assert (await run(boss, GO))["token_usage"]["total_tokens"] == 111


async def test_usage_that_is_not_to_count_does_not(
    run: Any, agents: Agents, calling: Calling, used: Any
) -> None:
    helper = agent_tool(agents("helper", used("hi", 30, 4)), description="H.", count_usage=False)
    boss = agents("boss", calling(("helper", {"task": "a"})), "done", tools=[helper])
    assert (await run(boss, GO))["token_usage"] == {}


async def test_usage_of_the_agent_counts_for_the_limit_of_the_calling_run(
    run: Any, agents: Agents, calling: Calling, used: Any
) -> None:
    helper = agent_tool(agents("helper", used("hi", 30, 4)), description="Help.")
    boss = agents("boss", calling(("helper", {"task": "a"})), tools=[helper], max_tokens_total=30)
    result = await run(boss, GO)
    assert (result["exit_reason"], result["step_count"]) == ("max_tokens_total", 1)


async def test_a_budget_sees_what_the_agent_used(
    run: Any, agents: Agents, calling: Calling, used: Any, thread: Any
) -> None:
    helper = agent_tool(agents("helper", used("hi", 30, 4)), description="Help.")
    boss = agents(
        "boss", calling(("helper", {"task": "a"})), tools=[helper],
        middleware=[TokenBudgetMiddleware(30)], checkpointer=InMemorySaver(),
    )  # fmt: skip
    assert (await run(boss, GO, thread))["exit_reason"] == "token_budget_exceeded"


async def test_an_agent_that_wants_to_hand_over_as_a_tool_is_an_error(
    run: Any, agents: Agents, calling: Calling
) -> None:
    def away() -> Command[Any]:
        """Go away."""
        return Command(goto="elsewhere", graph=Command.PARENT)

    helper = agent_tool(agents("helper", calling(("away", {})), tools=[away]), description="Help.")
    boss = agents("boss", calling(("helper", {"task": "a"})), tools=[helper], on_tool_error="raise")
    with pytest.raises(ToolExecutionError, match="hand over to 'elsewhere'"):
        await run(boss, GO)


class Tree(BaseCallbackHandler):
    """Notes which chain run each model run is inside of."""

    run_inline = True

    def __init__(self) -> None:
        self.parents: dict[Any, Any] = {}
        self.names: dict[Any, str] = {}
        self.models: list[Any] = []

    def on_chain_start(self, *_: Any, **more: Any) -> None:
        self._start(more["run_id"], more["parent_run_id"], more.get("name") or "")

    def on_tool_start(self, serialized: Any, *_: Any, **more: Any) -> None:
        self._start(more["run_id"], more["parent_run_id"], more.get("name") or serialized["name"])

    def on_chat_model_start(self, *_: Any, **more: Any) -> None:
        self._start(more["run_id"], more["parent_run_id"], "model")
        self.models.append(more["run_id"])

    def path(self, run_id: Any) -> list[str]:
        names: list[str] = []
        while run_id is not None:
            names.insert(0, self.names[run_id])
            run_id = self.parents[run_id]
        return names

    def _start(self, run_id: Any, parent: Any, name: str) -> None:
        self.parents[run_id], self.names[run_id] = parent, name


async def test_a_trace_shows_the_agent_inside_the_tool_call(
    run: Any, agents: Agents, calling: Calling
) -> None:
    helper = agent_tool(agents("helper", "hi"), name="ask_helper", description="Help.")
    boss = agents("boss", calling(("ask_helper", {"task": "a"})), "done", tools=[helper])
    tree = Tree()
    await run(boss, GO, {"callbacks": [tree]})
    assert tree.path(tree.models[1]) == ["boss", "tools", "ask_helper", "helper", "model", "model"]
