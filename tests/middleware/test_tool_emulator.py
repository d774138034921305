from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from interlock.graph import create_agent
from interlock.middleware import LLMToolEmulator
from interlock.state.errors import ConfigurationError

Run = Callable[..., Awaitable[dict[str, Any]]]
Scripted = Callable[..., Any]
Calling = Callable[..., AIMessage]

RAN: list[str] = []


def weather(city: str) -> str:
    """Tell the weather."""
    RAN.append(city)
    return f"real weather in {city}"


def clock() -> str:
    """Tell the time."""
    return "real time"


@pytest.mark.parametrize(
    ("tools", "answers"),
    [
        (None, ["played", "played"]),
        (["weather"], ["played", "real time"]),
        ([], ["real weather in Bonn", "real time"]),
    ],
)
async def test_named_tools_are_played(
    run: Run, scripted: Scripted, calling: Calling, tools: list[str] | None, answers: list[str]
) -> None:
    RAN.clear()
    model = scripted(calling(("weather", {"city": "Bonn"}), ("clock", {})), "done")
    emulator = LLMToolEmulator(tools=tools, model=scripted("played"))
    result = await run(
        create_agent(model, [weather, clock], middleware=[emulator]), {"messages": "hi"}
    )
    assert [m.text for m in result["messages"][2:4]] == answers
    assert bool(RAN) is (tools == [])


async def test_player_reads_what_the_tool_is_and_was_asked(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    model = scripted(calling(("weather", {"city": "{Bonn}"})), "done")
    player = scripted("played")
    emulator = LLMToolEmulator(model=player)
    await run(create_agent(model, [weather], middleware=[emulator]), {"messages": "hi"})
    prompt = player.requests[0][0].text
    assert all(part in prompt for part in ("weather", "Tell the weather.", "{'city': '{Bonn}'}"))


def test_played_answer_is_not_streamed_as_the_agents(scripted: Scripted, calling: Calling) -> None:
    model = scripted(calling(("clock", {})), "done")
    agent = create_agent(model, [clock], middleware=[LLMToolEmulator(model=scripted("played"))])
    parts = agent.stream({"messages": "hi"}, stream_mode="messages")
    texts = [message.text for message, _ in parts if isinstance(message, AIMessage)]
    assert "".join(texts) == "done"


@pytest.mark.parametrize("settings", [{}, {"model": 3}, {"tools": "weather", "model": "x:y"}])
def test_wrong_setting_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        LLMToolEmulator(**settings)
