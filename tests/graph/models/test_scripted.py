"""The scripted model: steps, records, streams."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
)
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph

from interlock.graph.models import ScriptedChatModel
from interlock.state.errors import ConfigurationError
from interlock.state.model_errors import ScriptError

Ask = Callable[..., Any]


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def adding(ident: str = "c1") -> AIMessage:
    return AIMessage("", tool_calls=[ToolCall(name="add", args={"a": 1, "b": 2}, id=ident)])


def test_each_call_takes_one_step(ask: Ask) -> None:
    model = ScriptedChatModel(["one", AIMessage("two"), lambda m: m[-1].text, lambda _: adding()])
    replies = [ask(model, "three") for _ in range(4)]
    assert [m.text for m in replies] == ["one", "two", "three", ""]
    assert replies[3].tool_calls[0]["name"] == "add"
    assert model.calls == 4


def test_an_error_is_raised_as_it_is(ask: Ask) -> None:
    down = OSError("the line is down")
    model = ScriptedChatModel([down, "up again"])
    with pytest.raises(OSError, match="the line is down") as caught:
        ask(model)
    assert caught.value is down
    assert ask(model).text == "up again"


def test_an_error_that_repeats_does_not_gather_tracebacks() -> None:
    error = OSError("down")
    model = ScriptedChatModel([error], repeat_last=True)
    depths: list[int] = []
    for _ in range(3):
        with pytest.raises(OSError, match="down") as caught:
            model.invoke("hi")
        depths.append(len(caught.traceback))
    assert depths[0] == depths[2]


def test_a_script_that_is_over_says_how_many_calls_were_expected(ask: Ask) -> None:
    model = ScriptedChatModel(["only"])
    ask(model)
    with pytest.raises(ScriptError, match="called 2 times, 1 calls were expected") as caught:
        ask(model)
    assert caught.value.position == 1


def test_the_last_step_repeats(ask: Ask) -> None:
    model = ScriptedChatModel(["a", "b"], repeat_last=True)
    assert [ask(model).text for _ in range(4)] == ["a", "b", "b", "b"]


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ("text", "Put it into a list"),
        ([3], "Step 0 of the script is 3"),
        (["ok", HumanMessage("hi")], "Step 1 of the script is HumanMessage"),
        ([ValueError], "not its class"),
        ([None], "Step 0"),
    ],
)
def test_what_is_no_step_is_refused(steps: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        ScriptedChatModel(steps)


def test_an_empty_script_cannot_repeat() -> None:
    with pytest.raises(ConfigurationError, match="the script is empty"):
        ScriptedChatModel([], repeat_last=True)


@pytest.mark.parametrize("result", [None, 3, HumanMessage("hi")])
def test_a_function_that_returns_no_reply_is_an_error(ask: Ask, result: Any) -> None:
    model = ScriptedChatModel([lambda _: result])
    with pytest.raises(ScriptError, match="step 0 of the script returned"):
        ask(model)


def test_requests_keep_what_was_sent(ask: Ask) -> None:
    model = ScriptedChatModel(["a", "b"])
    history: list[BaseMessage] = [SystemMessage("Be brief."), HumanMessage("hi")]
    ask(model, history)
    history.append(HumanMessage("again"))
    ask(model, history)
    assert [len(request) for request in model.requests] == [2, 3]
    assert model.requests[0] == history[:2]


def test_a_function_cannot_change_the_request() -> None:
    def greedy(messages: list[BaseMessage]) -> str:
        messages.clear()
        return "gone"

    model = ScriptedChatModel([greedy])
    model.invoke("hi")
    assert model.requests[0][0].text == "hi"


def test_options_hold_settings_and_stop_words(ask: Ask) -> None:
    model = ScriptedChatModel(["a"])
    ask(model.bind(temperature=0.5), stop=["END"])
    assert model.options == [{"temperature": 0.5, "stop": ["END"]}]


def test_a_chunk_as_a_step_becomes_a_message(ask: Ask) -> None:
    assert type(ask(ScriptedChatModel([AIMessageChunk(content="hi")]))) is AIMessage


def test_threads_share_a_script_without_losing_steps() -> None:
    model = ScriptedChatModel([str(number) for number in range(64)])
    start = threading.Barrier(4)

    def take(_: int) -> list[str]:
        start.wait()
        return [model.invoke("hi").text for _ in range(16)]

    with ThreadPoolExecutor(4) as pool:
        taken = [text for texts in pool.map(take, range(4)) for text in texts]
    assert sorted(taken, key=int) == [str(number) for number in range(64)]


def test_a_profile_can_be_given() -> None:
    assert ScriptedChatModel(["a"], profile={"structured_output": True}).profile == {
        "structured_output": True
    }


def test_the_script_stays_out_of_the_repr() -> None:
    assert "secret" not in repr(ScriptedChatModel(["secret"]))


def test_a_call_without_text_streams_its_pieces(gather: Callable[..., AIMessageChunk]) -> None:
    whole = gather(ScriptedChatModel([adding()]))
    assert whole.tool_calls == adding().tool_calls
    assert whole.content == ""


def test_a_graph_streams_words_and_calls_as_messages() -> None:
    replies = [AIMessage("Adding now.", tool_calls=adding().tool_calls)]
    pieces = _streamed(ScriptedChatModel(replies))
    assert [piece.content for piece in pieces if piece.content] == ["Adding", " now."]
    assert [c["name"] for p in pieces for c in p.tool_call_chunks if c["name"]] == ["add"]


def _streamed(model: ScriptedChatModel) -> Sequence[AIMessageChunk]:
    def respond(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState).add_node(respond)
    graph = graph.add_edge(START, "respond").add_edge("respond", END)
    parts: Any = graph.compile().stream({"messages": [HumanMessage("hi")]}, stream_mode="messages")
    return [part[0] for part in parts if isinstance(part[0], AIMessageChunk)]


def test_events_of_the_third_version_end_in_the_same_message() -> None:
    stream = ScriptedChatModel([adding()]).stream_events("hi", version="v3")
    assert stream.output.tool_calls == adding().tool_calls
