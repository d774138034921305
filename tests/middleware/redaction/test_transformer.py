from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime

from interlock.graph import create_agent
from interlock.graph.models.scripted import ScriptedChatModel
from interlock.middleware import PIIMiddleware
from interlock.middleware.redaction import PIIStreamTransformer, Redactor

Make = Callable[..., Redactor]


def event(method: str, data: Any) -> dict[str, Any]:
    return {"type": "event", "method": method, "params": {"namespace": [], "data": data}}


def part(kind: str, run: str = "r", index: int = 0, **fields: Any) -> dict[str, Any]:
    return event("messages", ({"event": kind, "index": index, **fields}, {"run_id": run}))


def delta(text: str, run: str = "r") -> dict[str, Any]:
    return part("content-block-delta", run, delta={"type": "text-delta", "text": text})


def payload(of: dict[str, Any]) -> Any:
    return of["params"]["data"][0]


@pytest.fixture
def transformer(redactor: Make) -> PIIStreamTransformer:
    own = redactor(lookback=16)
    return PIIStreamTransformer(redactor=own, replies=own, message=own.message)


def test_text_of_several_runs_is_held_apart(transformer: PIIStreamTransformer) -> None:
    events = [delta("I am kim", "a"), delta("and lee", "b")]
    events += [delta("@x.org and so on and so on", "a"), delta("@y.org and so on and so on", "b")]

    for one in events:
        assert transformer.process(one)

    assert payload(events[2])["delta"]["text"].startswith("I am [REDACTED_EMAIL] ")
    assert payload(events[3])["delta"]["text"].startswith("and [REDACTED_EMAIL] ")


def test_finished_block_is_shown_whole_and_redacted(transformer: PIIStreamTransformer) -> None:
    text = part("content-block-finish", content={"type": "text", "text": "kim@x.org"})
    call = part("content-block-finish", content={"type": "tool_call", "args": {"to": "kim@x.org"}})

    for one in (text, call):
        transformer.process(one)

    assert payload(text)["content"]["text"] == "[REDACTED_EMAIL]"
    assert payload(call)["content"]["args"] == {"to": "[REDACTED_EMAIL]"}


@pytest.mark.parametrize(
    "change",
    [
        {"type": "tool-call-delta", "args": '{"to": "kim'},
        {"type": "block-delta", "fields": {"type": "tool_call_chunk", "args": '{"to": "kim'}},
        {"type": "block-delta", "fields": {"type": "x_note", "body": "kim", "more": ["kim"]}},
    ],
)
def test_pieces_of_arguments_and_of_other_blocks_are_withheld(
    transformer: PIIStreamTransformer, change: dict[str, Any]
) -> None:
    one = part("content-block-delta", delta=change)
    transformer.process(one)

    assert "kim" not in repr(one)


@pytest.mark.parametrize("kind", ["message-finish", "error"])
def test_nothing_is_held_when_a_message_is_over(
    transformer: PIIStreamTransformer, kind: str
) -> None:
    transformer.process(delta("kim"))
    transformer.process(part(kind))
    late = delta("@x.org is not one, and so on and so on")
    transformer.process(late)

    assert payload(late)["delta"]["text"].startswith("@x.org")


@pytest.mark.parametrize(
    "data",
    [
        {"event": "tool-started", "input": {"to": "kim@x.org"}},
        {"event": "tool-started", "input": "kim@x.org"},
        {"event": "tool-output-delta", "delta": {"row": ["kim@x.org"]}},
        {"event": "tool-output-delta", "delta": "kim@x.org"},
        {"event": "tool-finished", "output": AIMessage("kim@x.org")},
        {"event": "tool-error", "message": "no kim@x.org"},
    ],
)
def test_events_of_tools_are_redacted(
    transformer: PIIStreamTransformer, data: dict[str, Any]
) -> None:
    one = event("tools", {**data, "tool_call_id": "c1"})
    transformer.process(one)

    assert "kim@" not in repr(one)


def test_snapshot_shows_redacted_messages_and_no_vault(transformer: PIIStreamTransformer) -> None:
    message = HumanMessage("kim@x.org")
    one = event("values", {"messages": [message], "n": 1, "pii_vault": {"t": "kim@x.org"}})
    transformer.process(one)

    assert "kim@" not in repr(one)
    assert one["params"]["data"]["n"] == 1
    assert message.content == "kim@x.org"


@pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
def test_no_event_of_a_run_shows_what_is_redacted() -> None:
    inner = create_agent(ScriptedChatModel(["I am bob@x.org, as you know"]))

    @tool
    def delegate(task: str, runtime: ToolRuntime[None, Any]) -> str:
        """Hand a task on."""
        runtime.emit_output_delta("working for carol@x.org")
        return str(inner.invoke({"messages": task})["messages"][-1].content)

    call = {"name": "delegate", "args": {"task": "ask kim@x.org"}, "id": "c1"}
    model = ScriptedChatModel([AIMessage("", tool_calls=[call]), "It was dave@x.org."])
    pii = PIIMiddleware("email", apply_to_output=True, apply_to_tool_results=True)
    agent = create_agent(model, [delegate], middleware=[pii])

    events = list(agent.stream_events({"messages": [HumanMessage("by lee@x.org")]}, version="v3"))

    assert "[REDACTED_EMAIL]" in repr(events)
    assert "@x.org" not in repr(events)
