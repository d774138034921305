"""A schema bound to the way its answer comes: as the call of a tool, or as the text of a reply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, StructuredTool

from ...state.structured_errors import SchemaMismatchError, UnreadableAnswerError
from .finish import reply_text
from .reading import read_json
from .schema import SchemaKind, SchemaSpec

SchemaT = TypeVar("SchemaT")


@dataclass
class OutputToolBinding(Generic[SchemaT]):
    """A schema and the tool by which a model answers with it. The tool is never run."""

    schema: type[SchemaT] | dict[str, Any]
    """The schema as it was given."""
    schema_kind: SchemaKind
    """What the schema was given as."""
    tool: BaseTool
    """The tool."""
    spec: SchemaSpec[SchemaT]
    """What is known of the schema."""
    offered: BaseTool | dict[str, Any]
    """The form to bind to a chat model."""

    @classmethod
    def from_schema_spec(cls, schema_spec: SchemaSpec[SchemaT]) -> OutputToolBinding[SchemaT]:
        """Make the tool for a schema."""
        tool = StructuredTool(
            name=schema_spec.name,
            description=schema_spec.description,
            args_schema=schema_spec.json_schema,
        )
        # langchain-core 1.8 puts definitions in the place of references and drops those that
        # stand inside themselves, which leaves the branches of a tree without a schema.
        offered = _function(schema_spec) if schema_spec.recursive else tool
        return cls(schema_spec.schema, schema_spec.schema_kind, tool, schema_spec, offered)

    def parse(self, tool_args: dict[str, Any]) -> SchemaT | dict[str, Any]:
        """Give the user's object for the arguments of a call.

        Raises:
            SchemaMismatchError: They do not fit the schema.
        """
        return _parsed(self.spec, tool_args)


@dataclass
class ProviderStrategyBinding(Generic[SchemaT]):
    """A schema and the text of replies that answer with it."""

    schema: type[SchemaT] | dict[str, Any]
    """The schema as it was given."""
    schema_kind: SchemaKind
    """What the schema was given as."""
    spec: SchemaSpec[SchemaT]
    """What is known of the schema."""

    @classmethod
    def from_schema_spec(cls, schema_spec: SchemaSpec[SchemaT]) -> ProviderStrategyBinding[SchemaT]:
        """Bind a schema."""
        return cls(schema_spec.schema, schema_spec.schema_kind, schema_spec)

    def parse(self, response: AIMessage) -> SchemaT | dict[str, Any]:
        """Give the user's object for a reply.

        Raises:
            UnreadableAnswerError: The text holds no JSON value, or several.
            SchemaMismatchError: The value does not fit the schema.
        """
        text = reply_text(response)
        try:
            value = read_json(text, name=self.spec.title, surrounded=True, bare=self.spec.wrapped)
        except UnreadableAnswerError as error:
            msg = (
                f"Native structured output expected valid JSON for {self.spec.title}, but parsing "
                f"failed: {error}"
            )
            raise UnreadableAnswerError(msg, text=text) from error
        return _parsed(self.spec, value)


def _parsed(spec: SchemaSpec[SchemaT], value: object) -> SchemaT | dict[str, Any]:
    try:
        return spec.validate(value)
    except SchemaMismatchError as error:
        problems = [f"Failed to parse data to {error.schema_name}: {error}"]
        raise SchemaMismatchError(error.schema_name, problems) from error


def _function(spec: SchemaSpec[Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.json_schema,
        },
    }
