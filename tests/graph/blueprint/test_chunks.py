"""What a streaming callback is told."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from interlock.graph import Agent, print_streaming_chunk
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware
from interlock.state import ConfigurationError
from interlock.tools import tool


def ignore(chunk: Any) -> None:
    del chunk


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


def searching(calling: Any, **settings: Any) -> Agent:
    model = ScriptedChatModel(
        [calling(("search", {"query": "a"})), "all is well"], repeat_last=True
    )
    return Agent(model=model, tools=[search], **settings)


def told(chunks: list[Any]) -> list[tuple[str, str]]:
    return [(type(c).__name__, c.text) for c in chunks if c.text]


async def test_a_callback_gets_words_and_results_as_they_come(run_agent: Any, calling: Any) -> None:
    chunks: list[Any] = []
    result = await run_agent(searching(calling), "go", streaming_callback=chunks.append)
    assert told(chunks) == [
        ("ToolMessage", "about a"),
        ("AIMessageChunk", "all"),
        ("AIMessageChunk", " is"),
        ("AIMessageChunk", " well"),
    ]
    assert any(getattr(c, "tool_call_chunks", None) for c in chunks)
    assert result["last_message"].text == "all is well"


async def test_a_streamed_run_gives_the_same_result(run_agent: Any, calling: Any) -> None:
    plain = await run_agent(searching(calling), "go")
    streamed = await run_agent(searching(calling), "go", streaming_callback=ignore)
    assert plain.keys() == streamed.keys()
    assert [m.text for m in plain["messages"]] == [m.text for m in streamed["messages"]]
    assert plain["step_count"] == streamed["step_count"]


async def test_the_callback_of_a_run_takes_the_place_of_the_agents(
    run_agent: Any, calling: Any
) -> None:
    own: list[Any] = []
    of_run: list[Any] = []
    agent = searching(calling, streaming_callback=own.append)
    await run_agent(agent, "go", streaming_callback=of_run.append)
    assert (bool(own), bool(of_run)) == (False, True)
    await run_agent(agent, "go")
    assert own


async def test_results_of_tools_can_be_left_out(run_agent: Any, calling: Any) -> None:
    chunks: list[Any] = []
    agent = searching(calling, stream_tool_results=False, streaming_callback=chunks.append)
    await run_agent(agent, "go")
    assert all(isinstance(c, AIMessageChunk) for c in chunks)


async def test_an_asynchronous_callback_is_awaited(calling: Any) -> None:
    chunks: list[Any] = []

    async def keep(chunk: Any) -> None:
        chunks.append(chunk)

    await searching(calling).arun("go", streaming_callback=keep)
    assert told(chunks)[-1] == ("AIMessageChunk", " well")


def test_an_asynchronous_callback_is_refused_in_a_synchronous_run(calling: Any) -> None:
    class Keep:
        async def __call__(self, chunk: Any) -> None: ...

    agent = searching(calling)
    with pytest.raises(ConfigurationError, match="use arun"):
        agent.run("go", streaming_callback=Keep())


async def test_a_pause_is_in_the_result_of_a_streamed_run(run_agent: Any, calling: Any) -> None:
    @tool
    def ask() -> str:
        """Ask."""
        return str(interrupt("well?"))

    model = ScriptedChatModel([calling(("ask", {}))])
    agent = Agent(model=model, tools=[ask], checkpointer=InMemorySaver())
    result = await run_agent(agent, "go", thread_id="t", streaming_callback=ignore)
    assert [pause.value for pause in result["__interrupt__"]] == ["well?"]


async def test_models_that_middleware_asks_are_not_told(run_agent: Any) -> None:
    class Judge(AgentMiddleware):
        model = ScriptedChatModel(["secret verdict"], repeat_last=True)

        def before_model(self, state: Any, runtime: Any) -> None:
            del state, runtime
            self.model.invoke("is this fine?")

    chunks: list[Any] = []
    agent = Agent(model=ScriptedChatModel(["ok"]), middleware=[Judge()])
    await run_agent(agent, "go", streaming_callback=chunks.append)
    assert told(chunks) == [("AIMessageChunk", "ok")]


def test_the_ready_made_callback_prints_what_happens(
    calling: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    searching(calling).run("go", streaming_callback=print_streaming_chunk)
    assert capsys.readouterr().out == '\nsearch: {"query": "a"}\n[search] about a\nall is well\n'


def test_the_ready_made_callback_prints_whole_replies(capsys: pytest.CaptureFixture[str]) -> None:
    call = {"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}
    print_streaming_chunk(AIMessage("hm", tool_calls=[call]))
    print_streaming_chunk(ToolMessage("r", name="f", tool_call_id="c"))
    assert capsys.readouterr().out == "\nf: {'a': 1}hm\n[f] r\n"
