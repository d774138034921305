"""Structured output of a single model call, held to its schema.

Unlike the parsers of langchain-core this one validates dict schemas too, and a missing, cut-off
or refused answer is an error instead of None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json
from typing_extensions import is_typeddict

from ....state.errors import (
    ConfigurationError,
    StructuredOutputError,
    StructuredOutputValidationError,
)
from ....state.model_errors import ChatModelRefusalError
from ....tools.schema_fit import first_problem
from .finish import cut_off_by

Method = Literal["json_schema", "json_mode", "function_calling"]


@dataclass(frozen=True)
class OutputSchema:
    """A schema as the provider reads it, and how to hold an answer to it."""

    source: Mapping[str, Any] | type
    """What the caller gave."""
    name: str
    """Name of the schema, also of its tool."""
    description: str
    """What it describes; may be empty."""
    json_schema: dict[str, Any]
    """The schema itself."""
    strict: bool | None = None
    """Ask the provider to hold the answer to it; None leaves that to the provider."""

    @classmethod
    def of(cls, schema: Mapping[str, Any] | type, *, strict: bool | None) -> OutputSchema:
        """Return the schema of a class or dict.

        Args:
            schema: A pydantic or TypedDict class, an OpenAI tool, or a JSON schema with a title.
            strict: Give the schema the form OpenAI's strict mode demands.

        Raises:
            ConfigurationError: No schema can be made of it.
        """
        if isinstance(schema, Mapping) and schema.get("type") == "json_schema":
            schema = cast("Mapping[str, Any]", schema.get("json_schema") or {})
        if isinstance(schema, Mapping) and "name" in schema and "schema" in schema:
            inner = cast("dict[str, Any]", schema["schema"])
            name, description = str(schema["name"]), str(schema.get("description") or "")
            return cls(inner, name, description, inner, strict)
        try:
            tool = convert_to_openai_tool(cast("Any", schema), strict=strict)["function"]
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            msg = (
                f"{schema!r} gives no schema for structured output: {exc}. Pass a pydantic or "
                "TypedDict class, or a JSON schema with a 'title'."
            )
            raise ConfigurationError(msg) from exc
        parameters = cast("dict[str, Any]", tool.get("parameters") or {})
        return cls(schema, tool["name"], tool.get("description") or "", parameters, strict)

    def response_format(self) -> dict[str, Any]:
        """Return the ``response_format`` that asks for this schema."""
        inner: dict[str, Any] = {"name": self.name, "schema": self.json_schema}
        if self.description:
            inner["description"] = self.description
        if self.strict is not None:
            inner["strict"] = self.strict
        return {"type": "json_schema", "json_schema": inner}

    def read(self, message: AIMessage, method: Method) -> Any:
        """Return what the message holds, as an instance of the schema.

        Args:
            message: The model's reply.
            method: How it was asked for.

        Raises:
            ChatModelRefusalError: The model refused.
            StructuredOutputError: There is no structure in the reply.
            StructuredOutputValidationError: It does not fit the schema.
        """
        refusal = message.additional_kwargs.get("refusal")
        if refusal:
            msg = f"The model refused to give {self.name!r}: {refusal}. Ask for something else."
            raise ChatModelRefusalError(
                msg,
                ai_message=message,
            )
        cut_off = cut_off_by(message.response_metadata.get("finish_reason"))
        if cut_off:
            msg = f"the answer is incomplete ({cut_off})"
            raise self._missing(msg, message)
        value = (
            self._from_call(message) if method == "function_calling" else self._from_text(message)
        )
        try:
            return self._validated(value)
        except (ValidationError, ValueError) as exc:
            raise StructuredOutputValidationError(self.name, exc, message) from exc

    def _from_call(self, message: AIMessage) -> object:
        for call in message.tool_calls:
            if call["name"] == self.name:
                return call["args"]
        for broken in message.invalid_tool_calls:
            raise self._missing(str(broken["error"]), message)
        msg = "the model made no call of that name"
        raise self._missing(msg, message)

    def _from_text(self, message: AIMessage) -> object:
        text = message.text.strip()
        if text.startswith("```"):
            text = text.partition("\n")[2].rpartition("```")[0]
        try:
            value: object = from_json(text, allow_inf_nan=False)
        except ValueError as exc:
            msg = f"the text is no JSON ({exc})"
            raise self._missing(msg, message) from None
        return value

    def _validated(self, value: object) -> Any:
        source = self.source
        # pydantic cannot read typing.TypedDict before Python 3.12, so those go by their schema.
        if isinstance(source, type) and not is_typeddict(source):
            return TypeAdapter[Any](source).validate_python(value)
        if (problem := first_problem(value, self.json_schema)) is not None:
            raise ValueError(problem)
        return value

    def _missing(self, why: str, message: AIMessage) -> StructuredOutputError:
        error = StructuredOutputError(
            f"The model gave no {self.name!r}: {why}. Ask again, or use another method."
        )
        error.ai_message = message
        return error


def wire_response_format(response_format: object) -> object:
    """Return a ``response_format`` setting in OpenAI's form.

    Args:
        response_format: OpenAI's dict, ``"json"`` or ``"text"``, or a schema class.
    """
    if isinstance(response_format, type):
        return OutputSchema.of(response_format, strict=None).response_format()
    if response_format in ("json", "json_object"):
        return {"type": "json_object"}
    if response_format == "text":
        return {"type": "text"}
    return response_format
