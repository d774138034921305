"""What a wrong structured answer leads to: another attempt, with which words, or the end."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, cast

from ...state.errors import (
    ConfigurationError,
    ExtractionError,
    MultipleStructuredOutputsError,
    StructuredOutputError,
    StructuredOutputValidationError,
)
from ...state.structured_errors import (
    InvalidExtractionError,
    MissingStructuredOutputError,
    RefusedAnswerError,
    SchemaMismatchError,
)
from .problems import shortened
from .schema import SchemaSpec
from .strategies import ErrorHandling, ProviderStrategy, ToolStrategy

FAILED_REASON = "structured_output_failed"
"""Exit reason of a run that ends without a valid answer, with ``on_failure="reason"``."""

MAX_FAILURE_LENGTH = 1_000
"""Characters that are kept of why an attempt was refused."""


def failure_text(error: StructuredOutputError) -> str:
    """Give why an attempt was refused, as one line for the record."""
    return shortened(str(error), MAX_FAILURE_LENGTH)


def next_move(
    error: StructuredOutputError, handle_errors: ErrorHandling, attempts: int, max_retries: int
) -> Literal["ask_again", "raise", "give_up"]:
    """Decide what follows a wrong or missing answer.

    ``raise`` means the error itself, which the settings keep from the model; ``give_up`` means
    the end of a series of attempts. Prose is no answer rather than a wrong one, so exception
    types do not keep it from being asked again. A refusal is final.

    Args:
        error: What is wrong.
        handle_errors: The setting of the strategy.
        attempts: How many times the model has been asked, this one included.
        max_retries: How many times it may be asked again.
    """
    chain = list(_chain(error))
    if handle_errors is False:
        return "raise"
    if any(isinstance(link, RefusedAnswerError) for link in chain):
        return "give_up"
    if (
        isinstance(handle_errors, type | tuple)
        and not isinstance(error, MissingStructuredOutputError)
        and not any(isinstance(link, handle_errors) for link in chain)
    ):
        return "raise"
    return "ask_again" if attempts <= max_retries else "give_up"


def instruction(
    error: StructuredOutputError,
    strategy: ToolStrategy[Any] | ProviderStrategy[Any],
    specs: Sequence[SchemaSpec[Any]],
) -> str:
    """Give the words with which the model is asked again.

    Raises:
        ConfigurationError: The ``handle_errors`` function gave something other than a text.
    """
    handle_errors = strategy.handle_errors if isinstance(strategy, ToolStrategy) else True
    if isinstance(handle_errors, str):
        return handle_errors
    if callable(handle_errors) and not isinstance(handle_errors, type):
        return _from_function(handle_errors, error)
    if isinstance(strategy, ProviderStrategy):
        return (
            f"Your last reply cannot be used.\n{_explained(error)}\nAnswer again with one JSON "
            f"value that fits the schema {specs[0].title}, and nothing else."
        )
    names = " or ".join(spec.name for spec in specs)
    if isinstance(error, MissingStructuredOutputError):
        return (
            f"Your answer is due in a structured form: give it by a call of {names}, not as text."
        )
    if isinstance(error, MultipleStructuredOutputsError):
        return f"{error} None of them was taken. Call exactly one of {names}, once."
    return f"The answer cannot be used.\n{_explained(error)}\nCall {names} again, corrected."


def final_error(
    error: StructuredOutputError, names: Sequence[str], last_output: str, failures: Sequence[str]
) -> ExtractionError:
    """Give the error that ends the run after the last attempt.

    Args:
        error: What was wrong with the last attempt.
        names: The schemas that were due.
        last_output: What the model said last.
        failures: Why each attempt was refused, oldest first, the last one included.
    """
    times = "one attempt" if len(failures) == 1 else f"{len(failures)} attempts"
    msg = (
        f"No valid structured answer for {' or '.join(names)} in {times}. {failure_text(error)} "
        f"The model's last output: {shortened(last_output, MAX_FAILURE_LENGTH)!r}. "
        "Raise max_retries, make the schema simpler, or see .errors for each attempt."
    )
    final: ExtractionError
    if isinstance(error, StructuredOutputValidationError):
        final = InvalidExtractionError(
            msg, attempts=len(failures), last_output=last_output, errors=failures, last=error
        )
    else:
        final = ExtractionError(
            msg, attempts=len(failures), last_output=last_output, errors=failures
        )
        final.ai_message = error.ai_message
    final.__cause__ = error
    return final


def _explained(error: StructuredOutputError) -> str:
    source = error.source if isinstance(error, StructuredOutputValidationError) else error
    if isinstance(source, SchemaMismatchError):
        lines = "\n".join(f"- {problem}" for problem in source.problems)
        return f"It does not fit the schema {source.schema_name}:\n{lines}"
    return str(source)


def _from_function(function: Callable[[Exception], str], error: StructuredOutputError) -> str:
    text = cast("object", function(error))
    if inspect.iscoroutine(text):
        text.close()
    if not isinstance(text, str):
        msg = (
            f"The handle_errors function {function!r} gave {type(text).__name__!r}; "
            "let it return the text to tell the model."
        )
        raise ConfigurationError(msg)
    return text


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        source = error.source if isinstance(error, StructuredOutputValidationError) else None
        error = source or error.__cause__
