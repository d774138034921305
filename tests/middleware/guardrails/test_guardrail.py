from __future__ import annotations

import threading
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.graph import create_agent
from interlock.middleware import allow, ask, block, guardrail, revise
from interlock.state import ConfigurationError


@tool
def send(to: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


async def test_blocked_input_never_reaches_the_model(run: Any, scripted: Any) -> None:
    model = scripted("never")

    @guardrail("input")
    def no_passwords(text: str) -> Any:
        return block("Not about passwords.") if "password" in text else allow()

    agent = create_agent(model, [], middleware=[no_passwords])
    result = await run(agent, {"messages": "my password?"})
    assert model.calls == 0
    assert result["messages"][-1].text == "Not about passwords."
    assert result["exit_reason"] == "no_passwords"


async def test_revised_input_is_what_the_model_reads(run: Any, scripted: Any) -> None:
    model = scripted("ok")
    polite = guardrail("input", name="polite")(lambda text: revise(text.upper()))
    await run(create_agent(model, [], middleware=[polite]), {"messages": "hello"})
    assert [m.text for m in model.requests[0]] == ["HELLO"]


@pytest.mark.parametrize("parallel", [False, True])
async def test_a_check_that_fails_blocks(run: Any, scripted: Any, parallel: bool) -> None:
    @guardrail("input", parallel=parallel)
    def broken(text: str) -> Any:
        raise LookupError(text)

    agent = create_agent(scripted("secret"), [], middleware=[broken])
    result = await run(agent, {"messages": "hi"})
    assert result["messages"][-1].text == "broken could not check this (LookupError)."


async def test_a_check_that_takes_too_long_blocks(run: Any, scripted: Any) -> None:
    never = threading.Event()

    @guardrail("input", timeout_s=0.05)
    def slow(text: str) -> Any:  # noqa: ARG001
        never.wait(2)

    try:
        agent = create_agent(scripted("secret"), [], middleware=[slow])
        result = await run(agent, {"messages": "hi"})
    finally:
        never.set()
    assert "TimeoutError" in result["messages"][-1].text


async def test_a_parallel_check_runs_beside_the_model_and_drops_its_reply(
    run: Any, scripted: Any
) -> None:
    meeting = threading.Barrier(2, timeout=10)

    def reply(_messages: Any) -> AIMessage:
        meeting.wait()
        return AIMessage("too late")

    @guardrail("input", parallel=True)
    def check(text: str) -> Any:  # noqa: ARG001
        meeting.wait()
        return block("no")

    model = scripted(reply)
    result = await run(create_agent(model, [], middleware=[check]), {"messages": "hi"})
    assert model.calls == 1
    assert [m.text for m in result["messages"]] == ["[removed by a guardrail]", "no"]


async def test_a_blocked_answer_is_replaced(run: Any, scripted: Any) -> None:
    @guardrail("output")
    async def no_names(text: str) -> Any:
        return block("withheld") if "Kim" in text else None

    agent = create_agent(scripted("It is Kim."), [], middleware=[no_names])
    result = await run(agent, {"messages": "who?"})
    assert [m.text for m in result["messages"]] == ["who?", "withheld"]


async def test_a_blocked_call_is_answered_and_not_run(
    run: Any, scripted: Any, calling: Any
) -> None:
    @guardrail("tool_call")
    def inside(call: Any) -> Any:
        return call["args"]["to"].endswith("@example.com")

    model = scripted(calling(("send", {"to": "a@evil.org"})), "done")
    result = await run(create_agent(model, [send], middleware=[inside]), {"messages": "mail"})
    answer = result["messages"][2]
    assert isinstance(answer, ToolMessage)
    assert answer.status == "error"
    assert "sent" not in answer.text


async def test_revised_arguments_are_the_ones_that_run(
    run: Any, scripted: Any, calling: Any
) -> None:
    redirect = guardrail("tool_call", name="redirect")(lambda _: revise({"to": "b@example.com"}))
    model = scripted(calling(("send", {"to": "a@example.com"})), "done")
    result = await run(create_agent(model, [send], middleware=[redirect]), {"messages": "mail"})
    assert result["messages"][2].text == "sent to b@example.com"


async def test_a_revised_result_is_what_the_model_reads(
    run: Any, scripted: Any, calling: Any
) -> None:
    mark = guardrail("tool_result", name="mark")(lambda text: revise(f"<data>{text}</data>"))
    model = scripted(calling(("send", {"to": "a"})), "done")
    await run(create_agent(model, [send], middleware=[mark]), {"messages": "mail"})
    assert model.requests[1][-1].text == "<data>sent to a</data>"


@pytest.mark.parametrize(
    ("answer", "text"), [("approve", "sent to a"), ("no", "A reviewer refused this.")]
)
async def test_a_person_is_asked_and_only_approval_lets_a_call_pass(
    run: Any, scripted: Any, calling: Any, answer: str, text: str
) -> None:
    check = guardrail("tool_call", name="careful")(lambda _: ask("Send it?"))
    model = scripted(calling(("send", {"to": "a"})), "done")
    agent = create_agent(model, [send], middleware=[check], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    await run(agent, {"messages": "mail"}, config)
    (asked,) = agent.get_state(config).interrupts
    assert asked.value["question"] == "Send it?"
    result = await run(agent, Command(resume={asked.id: answer}), config)
    assert result["messages"][2].text == text


def test_an_unknown_surface_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'answer'"):
        guardrail("answer")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_only_input_is_checked_in_parallel() -> None:
    with pytest.raises(ConfigurationError, match="parallel"):
        guardrail("output", parallel=True)
