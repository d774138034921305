from __future__ import annotations

from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import ModelProfile
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.constants import TAG_NOSTREAM

from interlock.middleware.summaries import SUMMARY_PROMPT, UnusableSummaryError
from interlock.middleware.summary_writer import SummaryWriter
from interlock.state.errors import InvalidResponseError
from interlock.tools.calls import AWAITING, BLOCKING, run_inline

TALK: list[BaseMessage] = [HumanMessage(f"turn-{n} " * 500) for n in range(10)]


def writer(model: Any, summarizer: Any = None, trim: int | None = None) -> SummaryWriter:
    return SummaryWriter(model, summarizer, count_tokens_approximately, SUMMARY_PROMPT, trim)


@pytest.fixture(params=["sync", "async"])
def write(request: pytest.FixtureRequest) -> Any:
    async def go(one: SummaryWriter, messages: list[BaseMessage]) -> str:
        if request.param == "sync":
            return run_inline(one.write(messages, BLOCKING))
        return await one.write(messages, AWAITING)

    return go


async def test_model_is_asked_with_the_messages(write: Any, scripted: Any) -> None:
    model = scripted(" the summary ")

    assert await write(writer(model), TALK) == "the summary"
    assert "turn-0 turn-0" in model.requests[0][0].text


async def test_other_model_writes_in_place_of_the_first(write: Any, scripted: Any) -> None:
    model, other = scripted("no"), scripted("yes")

    assert await write(writer(model, other), TALK) == "yes"
    assert model.calls == 0


async def test_function_gets_messages_and_marked_config(write: Any, scripted: Any) -> None:
    configs: list[RunnableConfig] = []

    def summarize(messages: list[BaseMessage], config: RunnableConfig) -> str:
        configs.append(config)
        return f"{len(messages)} messages"

    assert await write(writer(scripted("no"), RunnableLambda(summarize)), TALK) == "10 messages"
    assert configs[0].get("metadata", {})["lc_source"] == "summarization"
    assert TAG_NOSTREAM in configs[0].get("tags", ())


async def test_function_that_returns_no_text_is_named(write: Any, scripted: Any) -> None:
    summarizer: Any = RunnableLambda[Any, Any](lambda _: AIMessage("x"))

    with pytest.raises(InvalidResponseError, match="must return a str, got AIMessage"):
        await write(writer(scripted("no"), summarizer), TALK)


async def test_overflow_is_answered_with_less(write: Any, scripted: Any) -> None:
    model = scripted(ContextOverflowError("too long"), "fine")

    assert await write(writer(model), TALK) == "fine"
    shown = model.requests[1][0].text
    assert [f"turn-{n}" in shown for n in (0, 4, 9)] == [True, False, True]


async def test_overflow_fits_the_window_of_the_writing_model(write: Any, scripted: Any) -> None:
    plain = scripted(ContextOverflowError("too long"), "fine")
    narrow = scripted(ContextOverflowError("too long"), "fine")
    narrow.profile = ModelProfile(max_input_tokens=1000)
    for model in (plain, narrow):
        await write(writer(scripted("no"), model), TALK)

    assert len(narrow.requests[1][0].text) < len(plain.requests[1][0].text)


async def test_overflow_twice_is_an_error(write: Any, scripted: Any) -> None:
    model = scripted(ContextOverflowError("too long"))

    with pytest.raises(ContextOverflowError):
        await write(writer(model), TALK)
    assert model.calls == 2


async def test_only_what_fits_is_shown(write: Any, scripted: Any) -> None:
    model = scripted("fine")
    await write(writer(model, trim=2000), TALK)

    assert "turn-9" in model.requests[0][0].text
    assert "turn-0" not in model.requests[0][0].text


async def test_counter_that_fails_costs_no_summary(write: Any, scripted: Any) -> None:
    def broken(_: Any) -> int:
        raise ValueError

    model = scripted("fine")
    one = SummaryWriter(model, None, broken, SUMMARY_PROMPT, 4000)
    assert await write(one, [HumanMessage(f"<{n}>") for n in range(20)]) == "fine"
    assert "&lt;5&gt;" in model.requests[0][0].text
    assert "&lt;4&gt;" not in model.requests[0][0].text


async def test_nothing_needs_no_model(write: Any, scripted: Any) -> None:
    model = scripted("no")

    assert await write(writer(model), []) == "No previous conversation history."
    assert model.calls == 0


async def test_subclass_that_shows_nothing_gets_no_made_up_summary(
    write: Any, scripted: Any
) -> None:
    class Blind(SummaryWriter):
        def _trim_messages_for_summary(self, messages: list[BaseMessage]) -> list[BaseMessage]:
            return messages[:0]

    one = Blind(scripted("no"), None, count_tokens_approximately, SUMMARY_PROMPT, None)
    with pytest.raises(UnusableSummaryError):
        await write(one, TALK)


@pytest.mark.parametrize("profile", [None, {}, {"max_input_tokens": "many"}])
def test_window_that_is_not_known_is_none(scripted: Any, profile: Any) -> None:
    model = scripted("x")
    object.__setattr__(model, "profile", profile)

    assert vars(SummaryWriter)["_get_profile_limits"](writer(model)) is None
