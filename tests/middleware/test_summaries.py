from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    add_notification_metadata,
)

from interlock.middleware.summaries import (
    SUMMARY_PROMPT,
    UnusableSummaryError,
    checked_prompt,
    cut_middle,
    has_news,
    summary_text,
    within_budget,
)
from interlock.state.errors import ConfigurationError

SUMMARY = add_notification_metadata(HumanMessage("s" * 40), source="summarization")


def characters(messages: Sequence[BaseMessage]) -> int:
    return sum(len(m.text) for m in messages)


def test_default_prompt_keeps_the_places_others_look_for() -> None:
    assert "\n<messages>\n" in checked_prompt(SUMMARY_PROMPT)


@pytest.mark.parametrize("prompt", ["no place", "{messages} {other}", "{messages} {", "{}", 5])
def test_prompt_without_its_place_is_refused(prompt: Any) -> None:
    with pytest.raises(ConfigurationError, match="summary_prompt"):
        checked_prompt(prompt)


def test_doubled_braces_stand_for_themselves() -> None:
    assert checked_prompt("{{json}} {messages}").format(messages="m") == "{json} m"


@pytest.mark.parametrize(
    "reply",
    [
        AIMessage(""),
        AIMessage("  \n"),
        AIMessage("no", response_metadata={"finish_reason": "content_filter"}),
        AIMessage("no", response_metadata={"stop_reason": "refusal"}),
    ],
)
def test_answer_that_says_nothing_is_no_summary(reply: AIMessage) -> None:
    with pytest.raises(UnusableSummaryError):
        summary_text(reply)


def test_text_blocks_are_joined() -> None:
    blocks: list[str | dict[Any, Any]] = [
        {"type": "text", "text": "a "},
        {"type": "text", "text": "b"},
    ]

    assert summary_text(AIMessage(blocks)) == "a b"
    assert summary_text(" plain ") == "plain"


def test_what_fits_is_shown_as_it_is() -> None:
    messages: list[BaseMessage] = [HumanMessage("a")]

    assert within_budget(messages, 10, characters) is messages


def test_earlier_summary_and_newest_messages_are_shown() -> None:
    messages: list[BaseMessage] = [SUMMARY, *(HumanMessage(f"{n:020}") for n in range(10))]
    shown = within_budget(messages, 100, characters)

    assert [m.text for m in shown] == ["s" * 40, *(f"{n:020}" for n in (7, 8, 9))]


def test_message_that_alone_is_too_long_loses_its_middle() -> None:
    message: BaseMessage = HumanMessage("a" * 1000 + "z" * 1000)
    [shown] = within_budget([message], 100, characters)

    assert shown.text.startswith("a")
    assert shown.text.endswith("z")
    assert len(shown.text) < 200


def test_cut_text_says_so() -> None:
    assert cut_middle("abc", 3) == "abc"
    assert cut_middle("abcdefgh", 4) == "a\n\n[... a part in the middle is left out ...]\n\nfgh"


def test_summaries_alone_are_no_news() -> None:
    assert not has_news([SUMMARY])
    assert not has_news([])
    assert has_news([SUMMARY, AIMessage("x")])
