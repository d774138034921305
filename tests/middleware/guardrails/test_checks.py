"""What may be a check, and what becomes of verdicts that cannot be used."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool

from interlock.graph import create_agent
from interlock.middleware import Verdict, allow, block, guardrail, revise
from interlock.middleware.guardrails import Check
from interlock.state import WouldBlockError


async def deny(text: str, word: str = "bad") -> Verdict:
    return block("no") if word in text else allow()


class Denies:
    async def __call__(self, text: str) -> Verdict:
        return await deny(text)


CHECKS: list[Check] = [
    Denies(),
    deny,
    partial(deny, word="bad"),
    partial(partial(Denies())),
    lambda text: deny(text, "bad"),
]


@tool
def note(text: str) -> str:
    """Note."""
    return text


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("timeout_s", [None, 5])
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("check", CHECKS)
async def test_whatever_is_asynchronous_is_awaited(
    run: Any, scripted: Any, check: Any, parallel: bool, timeout_s: Any
) -> None:
    guard = guardrail("input", name="g", parallel=parallel, timeout_s=timeout_s)(check)
    agent = create_agent(scripted("fine"), [], middleware=[guard])
    assert (await run(agent, {"messages": "good"}))["exit_reason"] == "text"
    assert (await run(agent, {"messages": "bad"}))["messages"][-1].text == "no"


@pytest.mark.parametrize("wrong", [None, 3, {"text": "x"}, b"x"])
@pytest.mark.parametrize("on", ["input", "output", "tool_result"])
async def test_a_revision_that_is_no_text_blocks(
    run: Any, scripted: Any, calling: Any, on: Any, wrong: Any
) -> None:
    guard = guardrail(on, name="g")(lambda _: revise(wrong))
    model = scripted(calling(("note", {"text": "x"})), "done")
    result = await run(create_agent(model, [note], middleware=[guard]), {"messages": "go"})
    assert f"g revised this to a {type(wrong).__name__}, not to text." in [
        m.text for m in result["messages"]
    ]


@pytest.mark.parametrize("wrong", [None, "text", {3: "x"}])
async def test_a_revision_that_is_no_arguments_blocks(
    run: Any, scripted: Any, calling: Any, wrong: Any
) -> None:
    guard = guardrail("tool_call", name="g")(lambda _: revise(wrong))
    model = scripted(calling(("note", {"text": "x"})), "done")
    result = await run(create_agent(model, [note], middleware=[guard]), {"messages": "go"})
    assert result["messages"][2].status == "error"
    assert result["messages"][2].text.endswith("not to arguments.")


@pytest.mark.parametrize("said", ["allow", 3, Verdict("perhaps")])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
async def test_what_is_no_verdict_blocks(run: Any, scripted: Any, said: Any) -> None:
    guard = guardrail("input", name="g")(lambda _: said)
    result = await run(create_agent(scripted("x"), [], middleware=[guard]), {"messages": "go"})
    assert result["messages"][-1].text == "g gave no verdict."


def test_a_check_that_needs_an_event_loop_says_so_in_a_synchronous_run(scripted: Any) -> None:
    async def slow(_: str) -> None:
        await asyncio.sleep(0)

    agent = create_agent(scripted("x"), [], middleware=[guardrail("input", name="g")(slow)])
    with pytest.raises(WouldBlockError, match="ainvoke"):
        agent.invoke({"messages": "go"})


async def test_text_in_files_is_checked_and_pictures_stay(
    run: Any, scripted: Any, counting: Any
) -> None:
    check = counting(orders=revise("[cleaned]"))
    picture = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
    file = {"type": "text-plain", "text": "orders in a file", "mime_type": "text/plain"}
    model = scripted("fine")
    agent = create_agent(model, [], middleware=[guardrail("input", name="g")(check)])
    content: Any = [{"type": "text", "text": "look"}, file, picture]
    await run(agent, {"messages": [HumanMessage(content)]})
    assert model.requests[0][-1].content == [{"type": "text", "text": "[cleaned]"}, picture]


def test_a_stream_of_tokens_shows_a_reply_only_when_it_has_passed(scripted: Any) -> None:
    guard = guardrail("output")(lambda text: revise(text.replace("SECRET", "[x]")))
    agent = create_agent(scripted("a SECRET word"), [], middleware=[guard])
    tokens = [
        chunk.text
        for chunk, _ in agent.stream({"messages": "go"}, stream_mode="messages")
        if isinstance(chunk, AIMessage)
    ]
    assert tokens == ["a [x] word"]
