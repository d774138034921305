from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import Runtime

from interlock.graph import create_agent
from interlock.graph.models.scripted import ScriptedChatModel
from interlock.middleware import (
    AgentMiddleware,
    DetectorError,
    ModelRequest,
    PIIDetectionError,
    PIIMiddleware,
)
from interlock.state import ConfigurationError

Run = Callable[..., Awaitable[dict[str, Any]]]

SECOND = {"name": "lookup", "args": {"who": "kim@example.com"}, "id": "c1", "type": "tool_call"}
THREAD: Any = {"configurable": {"thread_id": "t"}}


@tool
def lookup(who: str) -> str:
    """Look somebody up."""
    return f"{who} is also lee@example.org"


def said(messages: list[Any]) -> str:
    return repr([(m.content, getattr(m, "tool_calls", None)) for m in messages])


async def test_whole_history_is_covered_and_its_shape_kept(run: Run) -> None:
    model = ScriptedChatModel(["ok"])
    history = [
        SystemMessage("rules of kim@example.com"),
        HumanMessage([{"type": "text", "text": "a kim@example.com"}, {"type": "x", "n": 1}]),
        AIMessage("b kim@example.com", tool_calls=[SECOND]),
        ToolMessage("c kim@example.com", tool_call_id="c1", name="lookup"),
        AIMessage("d kim@example.com"),
        HumanMessage("last", name="kim"),
    ]
    middleware = PIIMiddleware("email", apply_to_tool_results=True)

    result = await run(
        create_agent(model, [lookup], middleware=[middleware]), {"messages": history}
    )

    assert "kim@" not in said(model.requests[0])
    assert model.requests[0][1].content == [
        {"type": "text", "text": "a [REDACTED_EMAIL]"},
        {"type": "x", "n": 1},
    ]
    assert model.requests[0][-1].name == "kim"
    assert "kim@" in said(result["messages"]), "earlier replies stay as they were given"
    assert "kim@" in said(history), "the caller's messages are not changed"


async def test_replies_arguments_and_results_are_covered(run: Run) -> None:
    model = ScriptedChatModel([AIMessage("to kim@example.com", tool_calls=[SECOND]), "done"])
    middleware = PIIMiddleware("email", apply_to_output=True, apply_to_tool_results=True)

    result = await run(
        create_agent(model, [lookup], middleware=[middleware]), {"messages": "look up"}
    )

    assert "@example" not in said(result["messages"])
    assert result["messages"][2].text == "[REDACTED_EMAIL] is also [REDACTED_EMAIL]"


async def test_only_arguments_are_covered_if_only_they_are_asked_for(run: Run) -> None:
    model = ScriptedChatModel([AIMessage("to kim@example.com", tool_calls=[SECOND]), "done"])
    middleware = PIIMiddleware("email", apply_to_tool_args=True)

    result = await run(create_agent(model, [lookup], middleware=[middleware]), {"messages": "x"})

    assert result["messages"][1].text == "to kim@example.com"
    assert result["messages"][1].tool_calls[0]["args"] == {"who": "[REDACTED_EMAIL]"}


async def test_tokens_go_to_the_model_and_values_to_tools_and_user(run: Run) -> None:
    seen: list[str] = []

    @tool
    def send(to: str) -> str:
        """Send a letter."""
        seen.append(to)
        return f"sent to {to}"

    def call(messages: list[Any]) -> AIMessage:
        token = messages[-1].text.split()[-1]
        return AIMessage("", tool_calls=[{"name": "send", "args": {"to": token}, "id": "c1"}])

    def answer(messages: list[Any]) -> str:
        return f"It was {messages[-1].text}."

    model = ScriptedChatModel([call, answer])
    middleware = PIIMiddleware("email", strategy="token", apply_to_tool_results=True)

    result = await run(
        create_agent(model, [send], middleware=[middleware]),
        {"messages": "write to kim@example.com"},
    )

    assert seen == ["kim@example.com"]
    assert result["messages"][-1].text == "It was sent to kim@example.com."
    assert "@example" not in said([m for request in model.requests for m in request])
    assert "pii_vault" not in result


async def test_vault_lasts_as_long_as_the_thread(run: Run) -> None:
    model = ScriptedChatModel(["noted", lambda messages: messages[0].text])
    middleware = PIIMiddleware("email", strategy="token")
    agent = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())

    await run(agent, {"messages": "I am kim@example.com"}, THREAD)
    result = await run(agent, {"messages": "who am I?"}, THREAD)

    assert result["messages"][-1].text == "I am kim@example.com"


async def test_value_goes_only_to_the_tools_that_are_named(run: Run) -> None:
    def call(messages: list[Any]) -> AIMessage:
        args = {"who": messages[-1].text}
        return AIMessage("", tool_calls=[{"name": "lookup", "args": args, "id": "c1"}])

    middleware = PIIMiddleware("email", strategy="token", restore_tools=["send"])
    agent = create_agent(ScriptedChatModel([call, "ok"]), [lookup], middleware=[middleware])

    result = await run(agent, {"messages": "kim@example.com"})

    assert "kim@" not in result["messages"][2].text


@pytest.mark.parametrize(
    ("options", "steps", "text"),
    [
        ({}, ["ok"], "I am kim@example.com"),
        ({"apply_to_output": True}, ["write to kim@example.com"], "hi"),
        ({"apply_to_output": True}, [AIMessage("", tool_calls=[SECOND])], "hi"),
        (
            {"apply_to_tool_results": True},
            [AIMessage("", tool_calls=[{**SECOND, "args": {"who": "x"}}]), "ok"],
            "hi",
        ),
    ],
)
async def test_block_ends_the_run(run: Run, options: Any, steps: Any, text: str) -> None:
    model = ScriptedChatModel(steps)
    middleware = PIIMiddleware("email", strategy="block", **options)

    with pytest.raises(PIIDetectionError, match=r"1 instance\(s\) of email"):
        await run(create_agent(model, [lookup], middleware=[middleware]), {"messages": text})


async def test_blocked_result_is_stored_nowhere_and_the_thread_goes_on(run: Run) -> None:
    call = {**SECOND, "args": {"who": "x"}}
    model = ScriptedChatModel([AIMessage("", tool_calls=[call]), "fine"])
    middleware = PIIMiddleware("email", strategy="block", apply_to_tool_results=True)
    saver = InMemorySaver()
    agent = create_agent(model, [lookup], middleware=[middleware], checkpointer=saver)
    with pytest.raises(PIIDetectionError):
        await run(agent, {"messages": "hi"}, THREAD)

    result = await run(agent, {"messages": "go on"}, THREAD)

    assert result["messages"][-1].text == "fine"
    assert "lee@" not in repr(saver.storage) + repr(saver.blobs) + repr(saver.writes)


async def test_reply_that_may_be_given_does_not_block_the_next_run(run: Run) -> None:
    model = ScriptedChatModel(["write to kim@example.com", "ok"])
    middleware = PIIMiddleware("email", strategy="block")
    agent = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())

    await run(agent, {"messages": "hi"}, THREAD)
    await run(agent, {"messages": "and?"}, THREAD)

    assert "kim@" not in said(model.requests[1])


async def test_what_other_layers_add_to_a_request_is_covered(run: Run) -> None:
    class Memory(AgentMiddleware):
        def wrap_model_call(self, request: ModelRequest, handler: Any) -> Any:
            return handler(
                request.override(messages=[HumanMessage("kim@x.org"), *request.messages])
            )

    model = ScriptedChatModel(["ok"])

    await run(
        create_agent(model, middleware=[Memory(), PIIMiddleware("email")]), {"messages": "hi"}
    )

    assert model.requests[0][0].text == "[REDACTED_EMAIL]"


async def test_text_that_has_been_looked_at_is_not_looked_at_again(run: Run) -> None:
    looks: list[str] = []

    def detect(text: str) -> list[Any]:
        looks.append(text)
        return []

    steps = [AIMessage("", tool_calls=[{**SECOND, "id": f"c{n}"}]) for n in range(5)]
    model = ScriptedChatModel([*steps, "done"])
    middleware = PIIMiddleware("x", detector=detect, apply_to_output=True)
    history = [HumanMessage(f"message {n} ".ljust(80, ".")) for n in range(30)]

    await run(create_agent(model, [lookup], middleware=[middleware]), {"messages": history})

    assert all(looks.count(m.text) <= 1 for m in history)


async def test_failing_detector_ends_the_run(run: Run) -> None:
    def detect(_text: str) -> Any:
        raise ValueError

    middleware = PIIMiddleware("x", detector=detect)

    with pytest.raises(DetectorError, match="failed with ValueError"):
        await run(
            create_agent(ScriptedChatModel(["ok"]), middleware=[middleware]), {"messages": "hi"}
        )


async def test_failure_of_a_tool_says_nothing_sensitive(run: Run) -> None:
    @tool
    def fail(who: str) -> str:
        """Fail."""
        msg = f"no account of {who} or kim@example.com"
        raise ValueError(msg)

    call = {"name": "fail", "args": {"who": "x"}, "id": "c1"}
    model = ScriptedChatModel([AIMessage("", tool_calls=[call]), "ok"])
    middleware = PIIMiddleware("email", apply_to_tool_results=True)

    result = await run(create_agent(model, [fail], middleware=[middleware]), {"messages": "hi"})

    assert "no account of x or [REDACTED_EMAIL]" in result["messages"][2].text


def test_input_can_be_filtered_before_it_is_stored() -> None:
    messages = [
        HumanMessage("kim@example.com", id="m1"),
        ToolMessage("lee@x.org", tool_call_id="c"),
    ]

    filtered = PIIMiddleware("email").filter_input(messages)["messages"]

    assert [m.text for m in filtered] == ["[REDACTED_EMAIL]", "lee@x.org"]
    assert filtered[0].id == "m1"
    with pytest.raises(PIIDetectionError):
        PIIMiddleware("email", strategy="block").filter_input(messages)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"pii_type": "nothing"}, "Unknown PII type 'nothing'"),
        ({"pii_type": "email", "strategy": "erase"}, "'erase'"),
        ({"pii_type": "x", "detector": "(a+)+$"}, "for ever"),
        ({"pii_type": "x", "detector": "a("}, "position 1"),
        ({"pii_type": "email", "stream_lookback": 0}, "stream_lookback"),
        ({"pii_type": "email", "strategy": "token", "restore_tools": "send"}, "restore_tools"),
    ],
)
def test_wrong_setting_is_refused_by_name(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        PIIMiddleware(**settings)

    assert named in str(caught.value)


@pytest.mark.parametrize("hook", ["before_agent", "before_model"])
def test_a_blocked_result_that_came_past_the_layers_ends_the_run_at_once(hook: str) -> None:
    guard = PIIMiddleware("email", strategy="block", apply_to_tool_results=True)
    messages = [HumanMessage("who?"), ToolMessage("ann@example.com", tool_call_id="c")]

    with pytest.raises(PIIDetectionError):
        getattr(guard, hook)({"messages": messages}, Runtime())
