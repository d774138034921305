"""What callbacks and token streams hear of a tool whose results are covered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, ToolException, tool
from langgraph.prebuilt import ToolRuntime

from interlock.graph import AgentGraph, create_agent
from interlock.graph.models.scripted import ScriptedChatModel
from interlock.middleware import PIIMiddleware, ToolRetryMiddleware

SAID = "bob@example.com"


class Lookup(BaseTool):
    """A tool that is no function."""

    name: str = "lookup"
    description: str = "Look somebody up."
    fails: bool = False

    def _run(self, who: str) -> str:
        if self.fails:
            raise ValueError(who + SAID)
        return who + SAID


class AsyncLookup(Lookup):
    async def _arun(self, who: str) -> str:
        return self._run(who)


def fail(who: str) -> str:
    """Look somebody up."""
    raise ValueError(who + SAID)


async def fail_later(who: str) -> str:
    """Look somebody up."""
    raise ValueError(who + SAID)


def refuse(who: str) -> str:
    """Look somebody up."""
    raise ToolException(who + SAID)


def give_artifact(who: str) -> Any:
    """Look somebody up."""
    return who, (SAID, object())


def function_tool(function: Any, coroutine: Any = None, **options: Any) -> BaseTool:
    return StructuredTool.from_function(function, coroutine, name="lookup", **options)


TOOLS: dict[str, Callable[[], BaseTool]] = {
    "raising": lambda: function_tool(fail, fail_later),
    "refusing": lambda: function_tool(refuse, handle_tool_error=True),
    "class": Lookup,
    "asynchronous class": AsyncLookup,
    "failing class": lambda: Lookup(fails=True),
    "artifact": lambda: function_tool(give_artifact, response_format="content_and_artifact"),
}


def agent(made: Any, *more: Any) -> AgentGraph:
    call = {"name": made.name, "args": {"who": "x "} if "who" in made.args else {}, "id": "c1"}
    middleware = [PIIMiddleware("email", apply_to_tool_results=True), *more]
    model = ScriptedChatModel([AIMessage("", tool_calls=[call]), "done"])
    return create_agent(model, [made], middleware=middleware)


@pytest.mark.parametrize("kind", list(TOOLS))
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_callbacks_hear_nothing_of_what_a_tool_returns_or_raises(
    kind: str, asynchronous: bool, listener: Any
) -> None:
    graph = agent(TOOLS[kind]())
    config: RunnableConfig = {"callbacks": [listener]}
    if asynchronous:
        result = await graph.ainvoke({"messages": "x"}, config)
    else:
        result = graph.invoke({"messages": "x"}, config)

    ends = [heard for heard in listener.heard if heard.startswith("on_tool_e")]
    assert len(ends) == 1
    assert "object at" not in ends[0]
    assert [heard for heard in listener.heard if SAID in heard] == []
    assert SAID not in repr(result["messages"])


def test_failure_is_told_alike_whether_anybody_listens(listener: Any) -> None:
    retry = ToolRetryMiddleware(max_retries=1, retry_on=(ValueError,), initial_delay=0)
    silent, heard = (
        agent(function_tool(fail), retry).invoke({"messages": "x"}, {"callbacks": callbacks})
        for callbacks in ([], [listener])
    )

    assert silent["messages"][2].text == heard["messages"][2].text
    assert "2 attempts" in heard["messages"][2].text


def inner_model() -> ScriptedChatModel:
    return ScriptedChatModel(["the inner model names " + SAID + " and others"])


@tool
def ask() -> str:
    """Ask a model."""
    return inner_model().invoke("q").text


@tool
async def ask_later() -> str:
    """Ask a model."""
    return (await inner_model().ainvoke("q")).text


@tool
def ask_by_config(config: RunnableConfig) -> str:
    """Ask a model."""
    return inner_model().invoke("q", config).text


@tool
def ask_by_runtime(runtime: ToolRuntime[Any, Any]) -> str:
    """Ask a model."""
    return inner_model().invoke("q", runtime.config).text


@tool
def ask_by_callbacks(callbacks: Any = None) -> str:
    """Ask a model."""
    return inner_model().invoke("q", {"callbacks": callbacks}).text


@pytest.mark.parametrize(
    "made", [ask, ask_later, ask_by_config, ask_by_runtime, ask_by_callbacks], ids=lambda t: t.name
)
@pytest.mark.parametrize("subgraphs", [False, True])
async def test_tokens_of_a_model_that_a_tool_asks_are_not_streamed(
    made: Any, subgraphs: bool
) -> None:
    options: Any = {"stream_mode": "messages", "subgraphs": subgraphs}
    graph = agent(made)
    shown = [part async for part in graph.astream({"messages": "x"}, **options)]
    if made is not ask_later:
        shown += agent(made).stream({"messages": "x"}, **options)

    assert "the inner model names [REDACTED_EMAIL] and others" in repr(shown)
    assert "done" in repr(shown)
    assert SAID not in repr(shown)


async def test_tool_can_stream_an_agent_for_itself() -> None:
    inner = create_agent(ScriptedChatModel(["one two three"]))

    @tool
    def count() -> str:
        """Count the pieces of an answer."""
        pieces = [m for m, _ in inner.stream({"messages": "x"}, stream_mode="messages")]
        return f"{len(pieces) > 1}"

    shown = list(agent(count).stream({"messages": "x"}, stream_mode="messages"))

    assert "True" in repr(shown)
