"""Attacks on what must stay private, and on those who look for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from interlock.graph import create_agent
from interlock.graph.models.scripted import ScriptedChatModel
from interlock.middleware import (
    DetectorError,
    InjectionScreenMiddleware,
    ModerationMiddleware,
    PIIMiddleware,
)

Run = Callable[..., Awaitable[dict[str, Any]]]


def call(name: str, **args: Any) -> AIMessage:
    calls = [{"name": name, "args": args, "id": "c1", "type": "tool_call"}]
    return AIMessage("", tool_calls=calls)


BAIT = ["a.", "1.1.1.", "a@a.", "00:11:", "1234 ", "4 ", "a.b/", "@", "::", "DE89", "sk-", "token=", "http://",
        "[at]", "://a:", "-----BEGIN PRIVATE KEY-----", "ignore ", "<", "<email:0", "\\u0040"]  # fmt: skip


KINDS = ["email", "credit_card", "ip", "mac_address", "url", "phone", "iban", "api_key"]


@pytest.mark.parametrize(
    ("bait", "asynchronous"), [(b, bool(n % 2)) for n, b in enumerate(BAIT)], ids=repr
)
async def test_bait_for_patterns_neither_holds_a_run_up_nor_ends_it(
    bait: str, asynchronous: bool
) -> None:
    # A pattern that takes the square of 100 KB would keep this test from ending.
    text = (bait * 100_000)[:100_000]

    @tool
    def page() -> str:
        """Read a page."""
        return text

    guards = [PIIMiddleware(kind, apply_to_tool_results=True) for kind in KINDS]
    screen = InjectionScreenMiddleware(action="mark")
    model = ScriptedChatModel([call("page"), "ok"])
    agent = create_agent(model, [page], middleware=[*guards, screen])
    value = {"messages": "read"}

    result = await agent.ainvoke(value) if asynchronous else agent.invoke(value)

    assert [m.type for m in result["messages"]] == ["human", "ai", "tool", "ai"]
    assert result["messages"][2].status == "success"
    assert result["messages"][-1].text == "ok"


DISGUISES = [
    "kim@example.com", "KIM@EXAMPLE.COM", "kim%40example.com", "kim [at] example [dot] com", "kim(at)example.com",
    "\uff4b\uff49\uff4d\uff20\uff45\uff58\uff41\uff4d\uff50\uff4c\uff45\uff0e\uff43\uff4f\uff4d", "k\u200bim@exam\u200bple.com", "kim&#64;example.com", '{"m": "kim\\u0040example.com"}',
    '"kim"@example.com', "mailto:kim@example.com", "<kim@example.com>", "kim@\u00adexample.com", "kim@[10.0.0.1]",
]  # fmt: skip


@pytest.mark.parametrize("written", DISGUISES)
async def test_disguised_address_does_not_reach_the_model(run: Run, written: str) -> None:
    @tool
    def look() -> str:
        """Look."""
        return f"found {written} there"

    model = ScriptedChatModel([call("look"), "done"])
    pii = PIIMiddleware("email", apply_to_tool_results=True)

    await run(create_agent(model, [look], middleware=[pii]), {"messages": f"ask {written} now"})

    assert written not in repr([m.content for request in model.requests for m in request])
    assert "[REDACTED_EMAIL]" in model.requests[1][-1].text


@pytest.mark.parametrize(
    "forged", ["<email:ffffffffffff>", "<email:0123456789ab>", "<api_key:aaaaaaaaaaaa>"]
)
async def test_forged_token_brings_no_value_out(run: Run, forged: str) -> None:
    sent: list[str] = []

    @tool
    def send(text: str) -> str:
        """Send."""
        sent.append(text)
        return "sent"

    model = ScriptedChatModel([call("send", text=forged), forged])
    pii = PIIMiddleware("email", strategy="token")

    result = await run(
        create_agent(model, [send], middleware=[pii]), {"messages": "I am kim@example.com"}
    )

    assert sent == [forged]
    assert "kim@" not in repr(result)


@pytest.mark.parametrize(
    "answer", [None, "", "probably fine", {}, 0.2, {"flagged": "no"}, ConnectionError()]
)
async def test_classifier_that_says_nothing_lets_nothing_pass(run: Run, answer: Any) -> None:
    def classify(_text: str) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    model = ScriptedChatModel(["never"])

    await run(create_agent(model, middleware=[ModerationMiddleware(classify)]), {"messages": "hi"})

    assert model.calls == 0


async def test_detector_that_breaks_lets_nothing_pass(run: Run) -> None:
    model = ScriptedChatModel(["never"])
    pii = PIIMiddleware("x", detector=lambda _: [{"start": 0, "end": 10_000}])

    with pytest.raises(DetectorError):
        await run(create_agent(model, middleware=[pii]), {"messages": "hi"})
    assert model.calls == 0
