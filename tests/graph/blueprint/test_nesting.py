"""An agent as a node of a larger graph, and inside another agent."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from interlock.graph import Agent, agent_tool
from interlock.graph.models import ScriptedChatModel
from interlock.tools import tool


class Wider(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    language: str
    text: str
    log: Annotated[list[str], operator.add]


def translator(model: ScriptedChatModel, **settings: Any) -> Agent:
    return Agent(
        model=model,
        system_prompt="Speak {{ language }}.",
        user_prompt="Say: {{ text }}",
        name="translator",
        **settings,
    )


def first(state: Wider) -> Wider:
    del state
    return {"log": ["first"]}


def last(state: Wider) -> Wider:
    return {"log": [state.get("messages", [])[-1].text]}


def around(agent: Agent, **compiling: Any) -> Any:
    graph: Any = StateGraph(Wider)
    graph.add_node("first", first)
    graph.add_node("agent", agent.compile())
    graph.add_node("last", last)
    graph.add_edge(START, "first")
    graph.add_edge("first", "agent")
    graph.add_edge("agent", "last")
    graph.add_edge("last", END)
    return graph.compile(**compiling)


async def test_keys_of_the_larger_graph_are_its_variables(run: Any) -> None:
    model = ScriptedChatModel(["Bonjour"])
    result = await run(around(translator(model)), {"language": "French", "text": "Hello"})
    assert [m.text for m in model.requests[0]] == ["Speak French.", "Say: Hello"]
    assert [m.text for m in result["messages"]] == ["Say: Hello", "Bonjour"]
    assert result["log"] == ["first", "Bonjour"]


async def test_a_pause_inside_is_answered_outside(run: Any, calling: Any, thread: Any) -> None:
    @tool
    def ask() -> str:
        """Ask."""
        return str(interrupt("well?"))

    model = ScriptedChatModel([calling(("ask", {})), "Bonjour"])
    graph = around(translator(model, tools=[ask]), checkpointer=InMemorySaver())
    paused = await run(graph, {"language": "French", "text": "Hello"}, thread)
    (pause,) = paused["__interrupt__"]
    result = await run(graph, Command(resume={pause.id: "yes"}), thread)
    assert model.requests[1][0].text == "Speak French."
    assert result["log"] == ["first", "Bonjour"]


async def test_an_agent_is_a_tool_of_another_one(run_agent: Any, calling: Any) -> None:
    inner = translator(ScriptedChatModel(["Bonjour"]), required_variables=None)
    outer = Agent(
        model=ScriptedChatModel([calling(("translator", {"task": "Hello"})), "done"]),
        tools=[agent_tool(inner, description="Translates.")],
    )
    result = await run_agent(outer, "go")
    assert result["messages"][2].text == "Bonjour"


async def test_an_agent_as_a_tool_asks_for_what_its_prompts_need(
    run_agent: Any, calling: Any
) -> None:
    inner_model = ScriptedChatModel(["Bonjour"])
    made = agent_tool(translator(inner_model), description="Translates.")
    call = calling(("translator", {"language": "French", "text": "Hello"}))
    outer = Agent(model=ScriptedChatModel([call, "done"]), tools=[made])
    result = await run_agent(outer, "go")
    assert set(made.args) == {"language", "text"}
    assert [m.text for m in inner_model.requests[0]] == ["Speak French.", "Say: Hello"]
    assert result["messages"][2].text == "Bonjour"


def test_an_agent_without_a_user_prompt_is_also_given_a_task() -> None:
    inner = Agent(
        model=ScriptedChatModel([]), system_prompt="Speak {{ language }}.", name="speaker"
    )
    assert set(agent_tool(inner, description="Speaks.").args) == {"task", "language"}
