"""The ways a structured answer can be missing or wrong, beside those in ``errors.py``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import ExtractionError, StructuredOutputError, StructuredOutputValidationError


class SchemaMismatchError(StructuredOutputError):
    """A JSON value does not fit its schema."""

    def __init__(self, schema_name: str, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.schema_name = schema_name
        """Name of the schema."""
        self.problems = tuple(problems)
        """What is wrong, one line each: the path, the validator's words, the value."""


class UnreadableAnswerError(StructuredOutputError):
    """A reply holds no JSON value that can be told for certain."""

    def __init__(self, message: str, *, text: str) -> None:
        super().__init__(message)
        self.text = text
        """What the model said."""


class RefusedAnswerError(UnreadableAnswerError):
    """The model, or a filter before it, declined to answer; asking again will not help."""


class MissingStructuredOutputError(StructuredOutputError):
    """The model answered in prose where a structured answer is due."""

    def __init__(self, schema_names: Sequence[str], ai_message: Any) -> None:
        super().__init__(
            f"The reply holds no structured answer; one for {' or '.join(schema_names)} is due."
        )
        self.schema_names = tuple(schema_names)
        """The schemas that would have been accepted."""
        self.ai_message = ai_message


class InvalidExtractionError(ExtractionError, StructuredOutputValidationError):
    """No attempt gave a structured answer, and the last one did not fit its schema."""

    def __init__(
        self,
        message: str,
        *,
        attempts: int,
        last_output: str,
        errors: Sequence[str],
        last: StructuredOutputValidationError,
    ) -> None:
        # The two bases build different messages, so neither of their constructors is called.
        Exception.__init__(self, message)
        self.attempts = attempts
        self.last_output = last_output
        self.errors = tuple(errors)
        self.tool_name = last.tool_name
        self.source = last.source
        self.ai_message = last.ai_message
