from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

from interlock.graph import create_agent
from interlock.middleware import (
    CompactionMiddleware,
    SlidingWindowCompactor,
    SummarizationCompactor,
    ToolResultPruningCompactor,
)
from interlock.state.errors import ConfigurationError, RunError, WouldBlockError
from interlock.tools import tool


@tool
def look(q: str) -> str:
    """Look something up."""
    return q * 400


def characters(messages: Sequence[BaseMessage]) -> int:
    return sum(len(m.text) for m in messages)


def window(limit: int, compactor: Any = None, **settings: Any) -> CompactionMiddleware:
    chosen = compactor or SlidingWindowCompactor()
    return CompactionMiddleware(chosen, limit, token_counter=characters, **settings)


def shortened(middleware: CompactionMiddleware, messages: list[Any]) -> list[Any]:
    update = middleware.before_model({"messages": messages}, None)
    merged: Any = add_messages(messages, update["messages"]) if update else messages
    return list(merged)


def talk(turns: int) -> list[Any]:
    """100 characters a turn, and the task."""
    pairs = [(HumanMessage("q" * 50), AIMessage("a" * 50)) for _ in range(turns)]
    messages = [*(m for pair in pairs for m in pair), HumanMessage("now")]
    return [m.model_copy(update={"id": f"m{n}"}) for n, m in enumerate(messages)]


def with_usage(messages: list[Any], tokens: int) -> list[Any]:
    """The conversation, its last reply reporting a number of tokens."""
    usage = UsageMetadata(input_tokens=tokens, output_tokens=0, total_tokens=tokens)
    reported = messages[-2].model_copy(update={"usage_metadata": usage})
    return [*messages[:-2], reported, messages[-1]]


@pytest.mark.parametrize(("window_size", "turns"), [(433, 3), (432, 1)])
def test_window_is_cut_from_seven_tenths_to_four_tenths(window_size: int, turns: int) -> None:
    left = shortened(window(window_size), talk(3))

    assert sum(m.text.startswith("q") for m in left) == turns


def test_reported_tokens_count_with_what_came_since() -> None:
    messages = with_usage(talk(3), 700)

    assert shortened(window(1005), messages) == messages
    assert len(shortened(window(1004), messages)) < len(messages)


def test_target_leaves_room_for_what_is_no_message() -> None:
    # 400 of the 700 reported are prompt and tools, so 300 - 400 leaves no room for turns
    left = shortened(window(750), with_usage(talk(3), 700))

    assert [m.text[:1] for m in left] == ["[", "n"]


def test_overhead_can_be_given_where_nothing_is_reported() -> None:
    assert len(shortened(window(1000), talk(3))) == 7
    assert len(shortened(window(1000, overhead_tokens=400), talk(3))) < 7


def test_counter_that_exceeds_the_report_is_noted(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        shortened(window(150), with_usage(talk(3), 200))

    assert "more accurate" in caplog.text


def test_second_middleware_sees_the_corrected_size() -> None:
    calls: list[Any] = [{"name": "t", "args": {}, "id": "c"}]
    step = [AIMessage("", tool_calls=calls), ToolMessage("r" * 600, tool_call_id="c", name="t")]
    messages = with_usage([*step, *talk(1)], 700)
    after = [AIMessage("", tool_calls=calls), ToolMessage("new", tool_call_id="c", name="t")]
    pruning = ToolResultPruningCompactor(min_tokens=10, placeholder="-")
    pruned = shortened(window(1000, pruning), [*messages, *after])

    assert "-" in [m.text for m in pruned]
    assert window(1000).before_model({"messages": pruned}, None) is None


def test_results_pruned_in_place_are_the_only_messages_written() -> None:
    messages = add_messages([], [HumanMessage("q"), *_steps(3)])
    pruning = ToolResultPruningCompactor(min_tokens=10, placeholder="-")
    update = window(200, pruning, compact_to=0.1).before_model({"messages": messages}, None)

    assert update is not None
    assert [m.text for m in update["messages"]] == ["-", "-"]


def test_window_replaces_the_whole_conversation() -> None:
    update = window(100).before_model({"messages": talk(3)}, None)

    assert update is not None
    assert update["messages"][0].id == REMOVE_ALL_MESSAGES


def _steps(number: int) -> list[Any]:
    calls: list[Any] = [{"name": "t", "args": {}, "id": f"c{n}"} for n in range(number)]
    results = [ToolMessage("r" * 100, tool_call_id=f"c{n}", name="t") for n in range(number)]
    pairs = zip(calls, results, strict=True)
    return [m for call, result in pairs for m in (AIMessage("", tool_calls=[call]), result)]


async def test_agent_works_on_within_its_window(
    run: Any, scripted: Any, calling: Callable[..., AIMessage]
) -> None:
    steps = [calling(("look", {"q": "x"}), start=n) for n in range(5)]
    model = scripted(*steps, "done")
    agent = create_agent(model, [look], middleware=[window(1500)], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "t"}}
    result = await run(agent, {"messages": "go"}, thread)

    assert max(characters(request) for request in model.requests) <= 1500
    assert all("go" in [m.text for m in request] for request in model.requests)
    assert result["messages"][-1].text == "done"


async def test_summaries_are_written_in_both_modes(run: Any, scripted: Any) -> None:
    compactor = SummarizationCompactor(scripted("S"), approximate_summary_tokens=50)
    model = scripted("fine")
    await run(create_agent(model, middleware=[window(300, compactor)]), {"messages": talk(3)})

    assert "<conversation_summary>\nS\n</conversation_summary>" in model.requests[0][0].text


async def test_compactor_may_be_asynchronous(scripted: Any) -> None:
    class Last:
        async def compact(self, messages: list[Any], *_: Any) -> list[Any]:
            return messages[-1:]

    model = scripted("fine")
    agent = create_agent(model, middleware=[window(100, Last())])
    await agent.ainvoke({"messages": talk(3)})

    assert [m.text for m in model.requests[0]] == ["now"]


def test_asynchronous_compactor_that_waits_cannot_serve_a_synchronous_run() -> None:
    class Waiting:
        async def compact(self, *_: Any) -> None:
            await _Never()

    with pytest.raises(WouldBlockError):
        shortened(window(100, Waiting()), talk(3))


class _Never:
    def __await__(self) -> Any:
        yield


@pytest.mark.parametrize("made", [[], ["larger"]], ids=["invalid", "larger"])
def test_result_that_breaks_the_rules_is_not_used(
    made: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def compact(self, messages: list[Any], *_: Any) -> list[Any]:
            orphan = ToolMessage("r", tool_call_id="gone")
            return [*messages, HumanMessage("more")] if made else [orphan]

    messages = talk(3)
    with caplog.at_level(logging.WARNING):
        assert shortened(window(100, Broken()), messages) == messages
    assert "invalid or not smaller" in caplog.text


def test_flow_of_a_compactor_may_only_ask() -> None:
    class Odd:
        def compact(self, *_: Any) -> Any:
            yield "something"

    with pytest.raises(RunError, match="something"):
        shortened(window(100, Odd()), talk(3))


def test_open_call_stays_and_is_answered() -> None:
    left = shortened(window(100), [*talk(3), *_steps(1)[:1]])

    assert [m.type for m in left] == ["human", "human", "ai", "tool"]
    assert left[-1].status == "error"


@given(data=st.data(), limit=st.integers(1, 3000))
def test_any_shortened_conversation_is_valid_and_settled(
    histories: Any, faults: Any, data: Any, limit: int
) -> None:
    messages = data.draw(histories())
    middleware = window(limit)
    left = shortened(middleware, messages)

    assert faults(left) == []
    assert characters(left) <= characters(messages)
    assert "the task" in [m.text for m in left]
    assert shortened(middleware, left) == left


@pytest.mark.parametrize(
    "settings",
    [
        {"compactor": object()},
        {"context_window": 0},
        {"overhead_tokens": -1},
        {"compact_at": 1.1},
        {"compact_to": 0},
        {"compact_at": 0.4, "compact_to": 0.4},
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any]) -> None:
    valid: dict[str, Any] = {"compactor": SlidingWindowCompactor(), "context_window": 100}
    with pytest.raises(ConfigurationError):
        CompactionMiddleware(**{**valid, **settings})
