from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.utils import count_tokens_approximately

from interlock.middleware.token_counts import (
    CONTEXT_TOKENS,
    ContextMeter,
    approximate_counter,
    reanchored,
    reported_tokens,
    unscaled,
)


class Counting:
    """Counts characters, and remembers how many messages it was given."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def __call__(self, messages: Sequence[BaseMessage]) -> int:
        self.seen.append(len(messages))
        return sum(len(m.text) for m in messages)


def reported(text: str, tokens: int, **fields: Any) -> AIMessage:
    usage = UsageMetadata(input_tokens=tokens, output_tokens=0, total_tokens=tokens)
    return AIMessage(text, usage_metadata=usage, **fields)


def talk(number: int) -> list[BaseMessage]:
    return [HumanMessage("x" * 10) for _ in range(number)]


def test_only_new_messages_are_counted() -> None:
    counter = Counting()
    meter = ContextMeter(counter)
    messages = talk(50)
    meter.estimate(messages)
    messages = [*messages, *talk(2)]

    assert meter.estimate(messages) == 520
    assert meter.estimate(messages) == 520
    assert counter.seen == [50, 2]


def test_reported_usage_needs_a_count_of_the_rest_only() -> None:
    counter = Counting()
    messages = [*talk(50), reported("yes", 1000), *talk(3)]

    assert ContextMeter(counter).estimate(messages) == 1030
    assert counter.seen == [3]


def test_untrusted_usage_is_not_used() -> None:
    meter = ContextMeter(Counting(), trusts=lambda _: False)

    assert meter.estimate([*talk(5), reported("yes", 1000)]) == 53
    assert meter.reported([reported("yes", 1000)]) is None


def test_reply_without_usage_is_counted_whatever_an_earlier_one_reported() -> None:
    messages = [*talk(5), reported("yes", 1000), *talk(1), AIMessage("no")]

    assert ContextMeter(Counting()).estimate(messages) == 65


def test_same_ids_in_another_thread_are_another_conversation() -> None:
    meter = ContextMeter(Counting())
    meter.estimate([HumanMessage("short", id="1")])

    assert meter.estimate([HumanMessage("much longer", id="1")]) == 11


def test_views_of_one_conversation_are_kept_apart() -> None:
    meter = ContextMeter(Counting())
    last = HumanMessage("x" * 10)
    meter.estimate([HumanMessage("x" * 90), last])

    assert meter.estimate([HumanMessage("y"), last], "edited") == 11


def test_confirm_counts_what_was_replaced_in_the_middle() -> None:
    meter = ContextMeter(Counting())
    messages = talk(3)
    meter.estimate(messages)
    messages[0] = HumanMessage("y")

    assert meter.estimate(messages) == 30
    assert meter.confirm(messages) == 21
    assert meter.estimate(messages) == 21


def test_memory_is_bounded_and_ends_with_the_messages() -> None:
    counter = Counting()
    meter = ContextMeter(counter, remembered=2)
    threads = [talk(1) for _ in range(3)]
    for thread in threads:
        meter.estimate(thread)
    counter.seen.clear()
    for thread in reversed(threads):
        meter.estimate(thread)

    assert counter.seen == [1]
    assert ContextMeter(counter).estimate([]) == 0


@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_incremental_count_is_the_full_count(sizes: list[int]) -> None:
    meter = ContextMeter()
    messages: list[BaseMessage] = []
    for size in sizes:
        messages = [*messages, *talk(size)]
        assert meter.estimate(messages) == count_tokens_approximately(messages)


def test_usage_of_a_reply_is_input_and_output() -> None:
    usage = UsageMetadata(input_tokens=7, output_tokens=3, total_tokens=10)
    nothing = UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)

    assert reported_tokens(AIMessage("x", usage_metadata=usage)) == 10
    assert reported_tokens(AIMessage("x", usage_metadata=nothing)) is None
    assert reported_tokens(AIMessage("x")) is None


def test_last_reply_tells_the_size_after_a_cut() -> None:
    before = [*talk(10), reported("yes", 150), *talk(1)]
    after = reanchored(before, before[8:], Counting())

    # 103 counted of 150 reported: 47 are no messages, and stay
    assert reported_tokens(after[2]) == 23 + 47  # type: ignore[arg-type]
    assert ContextMeter(Counting()).estimate(after) == 70 + 10
    assert CONTEXT_TOKENS not in before[10].response_metadata


def test_without_reported_usage_a_cut_changes_no_message() -> None:
    before = [*talk(3), AIMessage("yes"), *talk(1)]

    after = reanchored(before, before[2:], Counting())
    assert all(a is b for a, b in zip(after, before[2:], strict=True))
    assert reanchored(talk(2), [], Counting()) == []


def test_counter_fits_the_model() -> None:
    class Model:
        _llm_type = "anthropic-chat"

    message = [HumanMessage("a" * 12)]
    plain = approximate_counter(object(), count_tokens_approximately)
    assert approximate_counter(Model(), count_tokens_approximately)(message) != plain(message)


def test_parts_are_counted_without_scaling() -> None:
    usage = UsageMetadata(input_tokens=100, output_tokens=0, total_tokens=100)
    metadata = {"model_provider": "p"}
    messages = [HumanMessage("a"), AIMessage("b", usage_metadata=usage, response_metadata=metadata)]
    scaled = approximate_counter(object(), count_tokens_approximately)

    assert unscaled(scaled)(messages) < scaled(messages)
    assert unscaled(count_tokens_approximately) is count_tokens_approximately


WORDS = st.text(max_size=30)
RESTS = st.lists(
    st.one_of(
        st.builds(HumanMessage, WORDS),
        st.builds(SystemMessage, WORDS),
        st.builds(ToolMessage, WORDS, tool_call_id=WORDS, name=WORDS),
        st.builds(HumanMessage, st.just([{"type": "text", "text": "block"}])),
    ),
    max_size=4,
)


@given(RESTS, st.sampled_from([count_tokens_approximately, "anthropic-chat", "other"]))
def test_the_glance_at_a_conversation_never_says_less_than_the_count(
    rest: list[BaseMessage], counter: Any
) -> None:
    if isinstance(counter, str):
        model = SimpleNamespace(_llm_type=counter)
        counter = approximate_counter(model, count_tokens_approximately)
    messages = [HumanMessage("go"), reported("yes", 50), *rest]
    meter = ContextMeter(counter)

    most = meter.at_most(messages)

    assert most is None or most >= meter.estimate(messages)
    assert (most is None) == any(isinstance(m.content, list) for m in rest)


def test_only_what_the_own_counter_counts_is_told_at_a_glance() -> None:
    messages = [reported("yes", 50), HumanMessage("x")]
    few = partial(count_tokens_approximately, chars_per_token=0.1)

    assert ContextMeter(Counting()).at_most(messages) is None
    assert ContextMeter(few).at_most(messages) is None
    assert ContextMeter().at_most([HumanMessage("x")]) is None
    assert ContextMeter(trusts=lambda _: False).at_most(messages) is None
