from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.language_models import ModelProfile
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from interlock.middleware.summaries import SUMMARY_PROMPT
from interlock.middleware.summary_cut import SummaryCut


def characters(messages: Sequence[BaseMessage]) -> int:
    return sum(len(m.text) for m in messages)


@pytest.fixture
def kept(scripted: Any) -> Any:
    """``kept(keep, messages)``: the texts that stay."""

    def cut(keep: Any, messages: list[BaseMessage]) -> list[str]:
        model = scripted("x")
        model.profile = ModelProfile(max_input_tokens=10)
        one = SummaryCut(model, None, characters, SUMMARY_PROMPT, None)
        one.keep = keep
        old, near = one.cut(messages)
        assert sorted(map(id, [*old, *near])) == sorted(map(id, messages))
        return [m.text for m in near]

    return cut


def talk(*texts: str) -> list[BaseMessage]:
    kinds = (HumanMessage, AIMessage)
    return [kinds[n % 2](text) for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("keep", "texts"),
    [
        (("messages", 1), ["eee"]),
        (("messages", 3), ["ccc", "ddd", "eee"]),
        (("messages", 9), ["aaa", "bbb", "ccc", "ddd", "eee"]),
        (("tokens", 8), ["ddd", "eee"]),
        (("tokens", 15), ["aaa", "bbb", "ccc", "ddd", "eee"]),
        (("tokens", 1), ["eee"]),
        (("fraction", 0.6), ["ddd", "eee"]),
    ],
)
def test_newest_messages_stay(kept: Any, keep: Any, texts: list[str]) -> None:
    assert kept(keep, talk("aaa", "bbb", "ccc", "ddd", "eee")) == texts


def test_task_stays_in_front_of_its_newest_steps(kept: Any) -> None:
    def step(name: str) -> list[BaseMessage]:
        call: Any = {"name": "t", "args": {}, "id": name}
        return [AIMessage("", tool_calls=[call]), ToolMessage(name, tool_call_id=name)]

    messages = [*talk("q", "a", "task"), *step("s1"), *step("s2")]
    assert kept(("messages", 1), messages) == ["task", "", "s2"]


def test_task_that_has_been_answered_goes_with_the_rest(kept: Any) -> None:
    assert kept(("messages", 1), talk("q", "a")) == ["a"]


def test_without_any_reply_the_size_alone_decides(kept: Any) -> None:
    messages: list[BaseMessage] = [HumanMessage(str(n)) for n in range(5)]

    assert kept(("messages", 2), messages) == ["3", "4"]


def test_fraction_of_an_unknown_window_keeps_twenty_messages(scripted: Any) -> None:
    one = SummaryCut(scripted("x"), None, characters, SUMMARY_PROMPT, None)
    one.keep = ("fraction", 0.5)

    assert len(one.cut(talk(*"x" * 31))[1]) == 20


def test_conversation_without_messages_has_no_cut(kept: Any) -> None:
    assert kept(("tokens", 1), []) == []
