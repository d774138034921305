from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.exceptions import ModelAuthenticationError
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import add_messages

from interlock.graph import create_agent
from interlock.middleware import SummarizationMiddleware
from interlock.middleware.cut_points import is_real_user, is_summary, unread_start
from interlock.middleware.token_counts import ContextMeter
from interlock.state.errors import ConfigurationError
from interlock.tools import tool


@tool
def look(q: str) -> str:
    """Look something up."""
    return f"about {q}"


UNUSED = FakeListChatModel(responses=[])


def summarizing(text: str = "SUMMARY", **settings: Any) -> SummarizationMiddleware:
    """A middleware whose summaries are one text, written without a model."""
    return SummarizationMiddleware(UNUSED, summarizer=lambda _: text, **settings)


def shortened(middleware: SummarizationMiddleware, messages: Sequence[BaseMessage]) -> list[Any]:
    given: list[Any] = list(messages)
    update = middleware.before_model({"messages": given}, None)
    merged: Any = add_messages(given, update["messages"]) if update else given
    return list(merged)


def talk(turns: int) -> list[BaseMessage]:
    pairs = [(HumanMessage(f"q{n}"), AIMessage(f"a{n}")) for n in range(turns)]
    return [*(m for pair in pairs for m in pair), HumanMessage("now")]


async def test_older_messages_become_a_summary(run: Any, scripted: Any) -> None:
    model, writer = scripted("fine"), scripted("they said hello")
    middleware = SummarizationMiddleware(writer, trigger=("messages", 4), keep=("messages", 1))
    agent = create_agent(model, middleware=[middleware])
    await run(agent, {"messages": talk(2)})

    texts = [m.text for m in model.requests[0]]
    assert texts[0].endswith("they said hello")
    assert texts[1:] == ["now"]
    assert "q0" in writer.requests[0][0].text


async def test_model_that_fails_costs_nothing(
    run: Any, scripted: Any, caplog: pytest.LogCaptureFixture
) -> None:
    writer = scripted(ModelAuthenticationError("no key"))
    model = scripted("fine")
    middleware = SummarizationMiddleware(writer, trigger=("messages", 2), keep=("messages", 1))
    agent = create_agent(model, middleware=[middleware])
    with caplog.at_level(logging.WARNING):
        result = await run(agent, {"messages": talk(1)})

    assert [m.text for m in result["messages"]] == ["q0", "a0", "now", "fine"]
    assert "no key" in caplog.text


async def test_summary_call_is_traced_within_the_run_and_marked(run: Any, scripted: Any) -> None:
    seen: list[tuple[Any, Any]] = []

    class Handler(BaseCallbackHandler):
        def on_chat_model_start(self, *_: Any, parent_run_id: Any = None, **fields: Any) -> None:
            seen.append((fields["metadata"].get("lc_source"), parent_run_id))

    middleware = SummarizationMiddleware(
        scripted("S"), trigger=("messages", 2), keep=("messages", 1)
    )
    agent = create_agent(scripted("fine"), middleware=[middleware])
    await run(agent, {"messages": talk(1)}, {"callbacks": [Handler()]})

    assert [source for source, _ in seen] == ["summarization", None]
    assert all(parent is not None for _, parent in seen)


async def test_failed_model_is_left_alone_for_some_turns(run: Any, scripted: Any) -> None:
    writer = scripted(ModelAuthenticationError("no key"))
    middleware = SummarizationMiddleware(writer, trigger=("messages", 2), keep=("messages", 1))
    agent = create_agent(scripted("fine"), middleware=[middleware])
    for _ in range(6):
        await run(agent, {"messages": talk(1)})

    assert writer.calls == 2


async def test_other_errors_end_the_run_and_keep_the_history(run: Any, scripted: Any) -> None:
    def broken(_: Any) -> str:
        msg = "a bug"
        raise RuntimeError(msg)

    middleware = SummarizationMiddleware(
        scripted("unused"), summarizer=broken, trigger=("messages", 2), keep=("messages", 1)
    )
    agent = create_agent(scripted("fine"), middleware=[middleware], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "t"}}
    with pytest.raises(RuntimeError, match="a bug"):
        await run(agent, {"messages": talk(1)}, thread)

    kept = agent.get_state(thread).values["messages"]  # type: ignore[arg-type]
    assert [m.text for m in kept] == ["q0", "a0", "now"]


def test_errors_to_fall_back_on_can_be_chosen() -> None:
    def broken(_: Any) -> str:
        raise RuntimeError

    settings: dict[str, Any] = {"trigger": ("messages", 2), "keep": ("messages", 1)}
    middleware = SummarizationMiddleware(
        UNUSED, summarizer=broken, fall_back_on=(RuntimeError,), **settings
    )
    assert shortened(middleware, talk(1)) == talk(1)


@pytest.mark.parametrize("text", ["", "   "])
def test_empty_summary_replaces_nothing(text: str) -> None:
    middleware = summarizing(text, trigger=("messages", 2), keep=("messages", 1))

    assert shortened(middleware, talk(1)) == talk(1)


async def test_last_request_stays_through_a_long_task(
    run: Any, scripted: Any, calling: Callable[..., AIMessage]
) -> None:
    steps = [calling(("look", {"q": str(n)}), start=n) for n in range(6)]
    model = scripted(*steps, "done")
    middleware = SummarizationMiddleware(
        scripted("worked"), trigger=("messages", 4), keep=("messages", 1)
    )
    agent = create_agent(model, [look], middleware=[middleware])
    result = await run(agent, {"messages": "find everything"})

    assert all("find everything" in [m.text for m in request] for request in model.requests)
    assert result["exit_reason"] == "text"


def test_results_that_the_model_has_not_read_stay() -> None:
    calls: list[Any] = [{"name": "t", "args": {}, "id": f"c{n}"} for n in range(4)]
    results = [ToolMessage(f"r{n}", tool_call_id=f"c{n}") for n in range(4)]
    messages = [*talk(2), AIMessage("", tool_calls=calls), *results]
    left = shortened(summarizing(trigger=("messages", 3), keep=("messages", 1)), messages)

    assert [m.text for m in left[1:]] == ["now", "", "r0", "r1", "r2", "r3"]


def test_leading_system_messages_stay_in_front() -> None:
    messages = [SystemMessage("rules"), *talk(2)]
    left = shortened(summarizing(trigger=("messages", 3), keep=("messages", 1)), messages)

    assert [m.type for m in left] == ["system", "human", "human"]
    assert left[0].text == "rules"


def test_summary_is_not_summarized_for_its_own_sake() -> None:
    middleware = summarizing(trigger=("messages", 2), keep=("messages", 1))
    once = shortened(middleware, talk(2))

    assert middleware.before_model({"messages": once}, None) is None


def test_reported_usage_triggers_and_is_corrected_by_the_cut() -> None:
    usage = UsageMetadata(input_tokens=900, output_tokens=100, total_tokens=1000)
    messages = [*talk(3)[:-1], AIMessage("big", usage_metadata=usage), HumanMessage("now")]
    middleware = summarizing(trigger=("tokens", 1000), keep=("messages", 2))
    left = shortened(middleware, messages)

    assert is_summary(left[0])
    assert ContextMeter().estimate(left) < 1000


def test_usage_of_another_provider_does_not_trigger(scripted: Any) -> None:
    usage = UsageMetadata(input_tokens=900, output_tokens=100, total_tokens=1000)
    reply = AIMessage("x", usage_metadata=usage, response_metadata={"model_provider": "other"})
    middleware = SummarizationMiddleware(scripted("s"), trigger=("tokens", 1000))

    assert middleware.before_model({"messages": [*talk(2), reply]}, None) is None


def test_nothing_is_counted_where_only_messages_count() -> None:
    def counter(_: Any) -> int:
        raise AssertionError

    middleware = summarizing(trigger=("messages", 99), token_counter=counter)
    assert middleware.before_model({"messages": talk(3)}, None) is None


def test_idle_turn_counts_new_messages_only() -> None:
    seen: list[int] = []

    def counter(messages: Sequence[BaseMessage]) -> int:
        seen.append(len(messages))
        return len(messages)

    middleware = summarizing(trigger=("tokens", 10**6), token_counter=counter)
    messages = talk(1000)
    middleware.before_model({"messages": messages}, None)
    middleware.before_model({"messages": [*messages, AIMessage("a"), HumanMessage("b")]}, None)
    assert seen == [2001, 2]


KEEPS = st.one_of(
    st.tuples(st.just("messages"), st.integers(1, 12)),
    st.tuples(st.just("tokens"), st.integers(1, 400)),
)


@given(data=st.data(), keep=KEEPS)
def test_any_conversation_stays_valid_and_keeps_its_task(
    histories: Any, faults: Any, data: Any, keep: Any
) -> None:
    messages = data.draw(histories())
    before = [m.model_copy(deep=True) for m in messages]
    left = shortened(summarizing(trigger=("messages", 1), keep=keep), messages)

    assert faults(left) == []
    assert len(left) <= len(messages)
    assert messages == before
    assert [m for m in left if is_real_user(m)][-1].text == "the task"
    unread = messages[unread_start(messages) or len(messages) :]
    assert left[len(left) - len(unread) :] == unread


@given(data=st.data(), keep=KEEPS)
def test_second_time_changes_nothing(histories: Any, data: Any, keep: Any) -> None:
    middleware = summarizing(trigger=("messages", 1), keep=keep)
    once = shortened(middleware, data.draw(histories()))

    assert middleware.before_model({"messages": once}, None) is None


def test_fraction_needs_to_know_the_window(scripted: Any) -> None:
    with pytest.raises(ConfigurationError, match="profile"):
        SummarizationMiddleware(scripted("s"), trigger=("fraction", 0.8))


@pytest.mark.parametrize("errors", [ValueError("x"), ("error",), (int,)])
def test_fallback_errors_must_be_types(scripted: Any, errors: Any) -> None:
    with pytest.raises(ConfigurationError, match="fall_back_on"):
        SummarizationMiddleware(scripted("s"), fall_back_on=errors)


def test_unknown_argument_is_refused(scripted: Any) -> None:
    with pytest.raises(TypeError, match="triger"):
        SummarizationMiddleware(scripted("s"), triger=("messages", 3))


def test_older_arguments_still_work_with_a_warning(scripted: Any) -> None:
    with pytest.warns(DeprecationWarning, match="max_tokens_before_summary"):
        middleware = SummarizationMiddleware(scripted("s"), max_tokens_before_summary=9)
    with pytest.warns(DeprecationWarning, match="messages_to_keep"):
        kept = SummarizationMiddleware(scripted("s"), messages_to_keep=3)

    assert middleware.trigger == ("tokens", 9)
    assert kept.keep == ("messages", 3)
