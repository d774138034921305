from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from pydantic import BaseModel, ValidationError

from interlock.graph.structured_output import (
    InvalidExtractionError,
    MissingStructuredOutputError,
    MultipleStructuredOutputsError,
    ProviderStrategy,
    RefusedAnswerError,
    SchemaSpec,
    StructuredOutputValidationError,
    ToolStrategy,
)
from interlock.graph.structured_output.retry import final_error, instruction, next_move
from interlock.state.errors import ConfigurationError, StructuredOutputError

MESSAGE = AIMessage("said")


class Answer(BaseModel):
    text: str


def mismatch() -> StructuredOutputValidationError:
    with pytest.raises(StructuredOutputError) as caught:
        SchemaSpec(Answer).validate({})
    return StructuredOutputValidationError("Answer", caught.value, MESSAGE)


SEVERAL = MultipleStructuredOutputsError(["Answer", "Answer"], MESSAGE)
PROSE = MissingStructuredOutputError(["Answer"], MESSAGE)


@pytest.mark.parametrize(
    ("error", "handling", "move"),
    [
        (mismatch(), True, "ask_again"),
        (mismatch(), "a text", "ask_again"),
        (mismatch(), StructuredOutputValidationError, "ask_again"),
        (mismatch(), ValidationError, "ask_again"),
        (mismatch(), (KeyError, ValueError), "ask_again"),
        (mismatch(), KeyError, "raise"),
        (mismatch(), False, "raise"),
        (SEVERAL, StructuredOutputValidationError, "raise"),
        (SEVERAL, MultipleStructuredOutputsError, "ask_again"),
        (PROSE, KeyError, "ask_again"),
        (PROSE, False, "raise"),
    ],
)
def test_settings_decide_whether_the_model_hears_of_an_error(
    error: StructuredOutputError, handling: Any, move: str
) -> None:
    assert next_move(error, handling, attempts=1, max_retries=2) == move


@pytest.mark.parametrize(("attempts", "move"), [(1, "ask_again"), (2, "ask_again"), (3, "give_up")])
def test_attempts_are_bounded(attempts: int, move: str) -> None:
    assert next_move(PROSE, handle_errors=True, attempts=attempts, max_retries=2) == move


def test_refusal_is_final() -> None:
    error = StructuredOutputValidationError("A", RefusedAnswerError("no", text=""), MESSAGE)

    assert next_move(error, handle_errors=True, attempts=1, max_retries=2) == "give_up"


def told(error: StructuredOutputError, **settings: Any) -> str:
    strategy = ToolStrategy(Answer, **settings)
    return instruction(error, strategy, strategy.schema_specs)


def test_model_is_told_what_is_wrong_and_what_to_call() -> None:
    assert told(mismatch()) == (
        "The answer cannot be used.\nIt does not fit the schema Answer:\n"
        "- text: Field required (got {})\nCall Answer again, corrected."
    )
    assert "exactly one of Answer" in told(SEVERAL)
    assert "by a call of Answer" in told(PROSE)


def test_native_answer_is_asked_for_as_json() -> None:
    strategy = ProviderStrategy(Answer)

    assert "one JSON value that fits the schema Answer" in instruction(
        mismatch(), strategy, [strategy.schema_spec]
    )


def test_users_own_words_are_told_instead() -> None:
    assert told(mismatch(), handle_errors="Try harder.") == "Try harder."
    assert told(SEVERAL, handle_errors=kind) == "MultipleStructuredOutputsError"


def kind(error: Exception) -> str:
    return type(error).__name__


async def sleepy(_: Exception) -> str:
    return "later"


def coroutine(error: Exception) -> object:
    return sleepy(error)


def nothing(_: Exception) -> None:
    pass


@pytest.mark.parametrize("function", [nothing, coroutine])
def test_function_that_gives_no_text_is_named(function: Any) -> None:
    with pytest.raises(ConfigurationError, match="handle_errors"):
        told(mismatch(), handle_errors=function)


def test_last_error_holds_attempts_output_and_reasons() -> None:
    error = final_error(PROSE, ["Answer"], "I think so.", ["first", "second"])

    assert (error.attempts, error.last_output) == (2, "I think so.")
    assert error.errors == ("first", "second")
    assert "Answer" in str(error)
    assert "I think so." in str(error)
    assert error.__cause__ is PROSE


def test_last_error_after_a_mismatch_is_both_kinds_of_error() -> None:
    last = mismatch()
    error = final_error(last, ["Answer"], "{}", ["first"])

    assert isinstance(error, InvalidExtractionError)
    assert isinstance(error, StructuredOutputValidationError)
    assert (error.tool_name, error.source, error.ai_message) == ("Answer", last.source, MESSAGE)
