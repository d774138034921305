from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from pydantic import BaseModel

from interlock.graph.structured_output import (
    NUDGE_SOURCE,
    ActiveOutput,
    Answered,
    AskAgain,
    ExtractionError,
    Failed,
    MissingStructuredOutputError,
    MultipleStructuredOutputsError,
    NotDue,
    ProviderStrategy,
    StructuredOutputValidationError,
    ToolStrategy,
)

Replies = Callable[..., AIMessage]
Activate = Callable[[Any], ActiveOutput]


class Verdict(BaseModel):
    result: Literal["good", "bad"]


class Score(BaseModel):
    points: int


GOOD = ("Verdict", {"result": "good"})
WRONG = ("Verdict", {"result": "perhaps"})
ORDINARY = ("read_file", {"path": "a"})


def test_valid_call_is_the_answer(activate: Activate, reply: Replies) -> None:
    outcome = activate(ToolStrategy(Verdict)).read(reply(GOOD))

    assert isinstance(outcome, Answered)
    assert outcome.value == Verdict(result="good")
    (result,) = outcome.messages
    assert (result.tool_call_id, result.name, result.status) == ("c0", "Verdict", "success")
    assert result.content == "Returning structured response: result='good'"


def test_answer_can_be_made_again_from_the_models_own_value(
    activate: Activate, reply: Replies
) -> None:
    active = activate(ToolStrategy(Verdict | Score))
    outcome = active.read(reply(("Score", {"points": "7"})))

    assert isinstance(outcome, Answered)
    assert (outcome.schema_name, outcome.data) == ("Score", {"points": "7"})
    assert active.specs[1].validate(outcome.data) == outcome.value


def test_users_content_stands_in_the_result(activate: Activate, reply: Replies) -> None:
    outcome = activate(ToolStrategy(Verdict, tool_message_content="Noted.")).read(reply(GOOD))

    assert [message.content for message in outcome.messages] == ["Noted."]  # type: ignore[union-attr]


def test_wrong_call_gets_an_error_result(activate: Activate, reply: Replies) -> None:
    outcome = activate(ToolStrategy(Verdict)).read(reply(WRONG))

    assert isinstance(outcome, AskAgain)
    assert isinstance(outcome.error, StructuredOutputValidationError)
    (result,) = outcome.messages
    assert isinstance(result, ToolMessage)
    assert (result.tool_call_id, result.status) == ("c0", "error")
    assert """result: Input should be 'good' or 'bad' (got "perhaps")""" in result.text


def test_ordinary_calls_alone_leave_the_answer_for_later(
    activate: Activate, reply: Replies
) -> None:
    for strategy in (ToolStrategy(Verdict), ProviderStrategy(Verdict)):
        assert activate(strategy).read(reply(ORDINARY, text="{}")) == NotDue()
        assert activate(strategy).read(reply(("read_file", "{"))) == NotDue()


def test_ordinary_call_is_a_wrong_answer_where_no_tools_were_offered(
    activate: Activate, reply: Replies
) -> None:
    outcome = activate(ToolStrategy(Verdict)).read(reply(ORDINARY), with_tools=False)

    assert isinstance(outcome, AskAgain)
    assert [getattr(message, "status", None) for message in outcome.messages] == ["error"]


def test_call_beside_ordinary_calls_is_read_as_alone(activate: Activate, reply: Replies) -> None:
    active = activate(ToolStrategy(Verdict))
    right, wrong = active.read(reply(ORDINARY, GOOD)), active.read(reply(WRONG, ORDINARY))

    assert isinstance(right, Answered)
    assert [message.tool_call_id for message in right.messages] == ["c1"]
    assert isinstance(wrong, AskAgain)
    assert [getattr(message, "tool_call_id", None) for message in wrong.messages] == ["c0"]


@pytest.mark.parametrize("second", [GOOD, WRONG, ("Score", {"points": 1}), ("Verdict", "{")])
def test_of_several_calls_none_is_taken(
    activate: Activate, reply: Replies, second: tuple[str, Any]
) -> None:
    outcome = activate(ToolStrategy(Verdict | Score)).read(reply(GOOD, second))

    assert isinstance(outcome, AskAgain)
    assert isinstance(outcome.error, MultipleStructuredOutputsError)
    assert [getattr(message, "status", None) for message in outcome.messages] == ["error"] * 2


def test_arguments_that_are_no_json_get_an_error_result(activate: Activate, reply: Replies) -> None:
    outcome = activate(ToolStrategy(Verdict)).read(reply(("Verdict", '{"result":')))

    assert isinstance(outcome, AskAgain)
    assert [getattr(message, "tool_call_id", None) for message in outcome.messages] == ["c0"]
    assert '{"result":' in outcome.failures[0]


def test_fenced_arguments_are_read(activate: Activate, reply: Replies) -> None:
    fenced = '```json\n{"result": "good"}\n```'
    outcome = activate(ToolStrategy(Verdict)).read(reply(("Verdict", fenced)))

    assert isinstance(outcome, Answered)
    assert [message.tool_call_id for message in outcome.messages] == ["c0"]


def test_prose_is_answered_by_a_marked_message(activate: Activate) -> None:
    outcome = activate(ToolStrategy(Verdict | Score)).read(AIMessage("Quite good."))

    assert isinstance(outcome, AskAgain)
    assert isinstance(outcome.error, MissingStructuredOutputError)
    (nudge,) = outcome.messages
    assert isinstance(nudge, HumanMessage)
    assert nudge.additional_kwargs["lc_source"] == NUDGE_SOURCE
    assert "Verdict or Score" in nudge.text


@pytest.mark.parametrize("text", ['{"result": "good"}', '```\n{"result": "good"}\n```'])
def test_answer_written_down_instead_of_called_is_taken(activate: Activate, text: str) -> None:
    assert activate(ToolStrategy(Verdict | Score)).read(AIMessage(text)) == Answered(
        Verdict(result="good")
    )


def test_json_among_prose_is_no_answer_where_a_call_is_due(activate: Activate) -> None:
    text = 'I could say {"result": "good"}, but who knows.'

    assert isinstance(activate(ToolStrategy(Verdict)).read(AIMessage(text)), AskAgain)


def test_json_that_fits_two_schemas_is_no_answer(activate: Activate) -> None:
    class Same(Verdict):
        pass

    outcome = activate(ToolStrategy(Verdict | Same)).read(AIMessage('{"result": "good"}'))

    assert isinstance(outcome, AskAgain)


@pytest.mark.parametrize("text", ['{"result": "good"}', 'Well: {"result": "good"}. Done.'])
def test_native_answer_is_read_from_the_text(activate: Activate, text: str) -> None:
    assert activate(ProviderStrategy(Verdict)).read(AIMessage(text)) == Answered(
        Verdict(result="good")
    )


@pytest.mark.parametrize("text", ['{"result": "go', "prose", "", '{"result": "perhaps"}', "[]"])
def test_wrong_native_answer_is_asked_for_again(activate: Activate, text: str) -> None:
    outcome = activate(ProviderStrategy(Verdict)).read(AIMessage(text))

    assert isinstance(outcome, AskAgain)
    assert isinstance(outcome.error, StructuredOutputValidationError)
    assert [message.type for message in outcome.messages] == ["human"]


def test_attempts_of_all_kinds_share_one_bound(activate: Activate, reply: Replies) -> None:
    active = activate(ToolStrategy(Verdict, max_retries=2))
    failures: tuple[str, ...] = ()
    for message in (reply(WRONG), AIMessage("prose"), reply(GOOD, GOOD)):
        outcome = active.read(message, failures)
        assert isinstance(outcome, AskAgain | Failed)
        failures = outcome.failures

    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, ExtractionError)
    assert outcome.error.errors == outcome.failures
    assert outcome.error.attempts == 3


def test_end_is_an_error_or_a_reason(activate: Activate) -> None:
    for on_failure, reason in (("raise", None), ("reason", "structured_output_failed")):
        strategy: Any = ToolStrategy(Verdict, max_retries=0, on_failure=on_failure)  # type: ignore[arg-type]
        outcome = activate(strategy).read(AIMessage("prose"))
        assert isinstance(outcome, Failed)
        assert outcome.exit_reason == reason


def test_last_error_names_schema_and_output_and_its_calls_are_answered(
    activate: Activate, reply: Replies
) -> None:
    outcome = activate(ToolStrategy(Verdict, max_retries=0)).read(reply(WRONG))

    assert isinstance(outcome, Failed)
    assert 'Verdict({"result": "perhaps"})' in str(outcome.error)
    assert [(message.tool_call_id, message.status) for message in outcome.messages] == [
        ("c0", "error")
    ]


def test_unhandled_error_is_the_original(activate: Activate, reply: Replies) -> None:
    active = activate(ToolStrategy(Verdict | Score, handle_errors=False))
    several, wrong = active.read(reply(GOOD, GOOD)), active.read(reply(WRONG))

    assert isinstance(several, Failed)
    assert type(several.error) is MultipleStructuredOutputsError
    assert isinstance(wrong, Failed)
    assert type(wrong.error) is StructuredOutputValidationError


@pytest.mark.parametrize("strategy", [ToolStrategy(Verdict), ProviderStrategy(Verdict)])
@pytest.mark.parametrize("in_call", [True, False])
def test_reply_that_was_cut_off_is_never_read(
    activate: Activate, reply: Replies, strategy: Any, in_call: bool
) -> None:
    text = '{"result": "good"}'
    message = (
        reply(GOOD, finish_reason="length")
        if in_call
        else reply(text=text, stop_reason="max_tokens")
    )
    outcome = activate(strategy).read(message)

    assert isinstance(outcome, AskAgain)
    assert "cut off" in outcome.failures[0]


@pytest.mark.parametrize("strategy", [ToolStrategy(Verdict), ProviderStrategy(Verdict)])
def test_refusal_is_not_asked_about_again(activate: Activate, strategy: Any) -> None:
    message = AIMessage("", additional_kwargs={"refusal": "I will not judge."})
    outcome = activate(strategy).read(message)

    assert isinstance(outcome, Failed)
    assert "I will not judge." in str(outcome.error)


def test_chunks_count_by_their_text_not_by_what_was_guessed(activate: Activate) -> None:
    chunk = AIMessageChunk(
        content="",
        tool_call_chunks=[tool_call_chunk(name="Score", args='{"points": 1', id="a", index=0)],
    )
    assert chunk.tool_calls[0]["args"] == {"points": 1}

    assert isinstance(activate(ToolStrategy(Score)).read(chunk), AskAgain)


def test_call_without_an_id_is_told_in_a_message(activate: Activate) -> None:
    call: Any = {"name": "Score", "args": {}, "id": None}
    outcome = activate(ToolStrategy(Score)).read(AIMessage("", tool_calls=[call]))

    assert isinstance(outcome, AskAgain)
    assert [message.type for message in outcome.messages] == ["human"]
