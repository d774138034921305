"""One schema of a structured answer: how it is offered, and how an answer is held against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar, cast

from pydantic import BaseModel
from typing_extensions import is_typeddict

from ...state.structured_errors import SchemaMismatchError
from .json_value import is_object
from .names import safe_name
from .partial import partial_value
from .problems import value_text
from .shape import WRAPPED_FIELD, provider_shape
from .typed import check_for, type_description, type_name
from .variants import unpacked

SchemaT = TypeVar("SchemaT")

SchemaKind = Literal["pydantic", "dataclass", "typeddict", "json_schema", "type"]
"""What a schema was given as; ``type`` is every other Python type."""

UNTITLED = "response_format"
"""Name of a JSON schema without a title. Always the same: a resumed thread must know its tools."""


class _Check(Protocol):
    """Holds values against a schema, whatever it was given as."""

    @property
    def schema(self) -> dict[str, Any]: ...

    @property
    def recursive(self) -> bool: ...

    def __call__(self, value: object, root: Sequence[str | int] = ()) -> object: ...


@dataclass(init=False)
class SchemaSpec(Generic[SchemaT]):
    """A schema, ready to be offered to a provider and to check what comes back."""

    schema: type[SchemaT] | dict[str, Any]
    """The schema as it was given."""
    name: str
    """Name for providers: of the output tool, or of the native schema."""
    description: str
    """What the schema is for, in the words of its docstring or ``description``."""
    schema_kind: SchemaKind
    """What the schema was given as."""
    json_schema: dict[str, Any]
    """The object schema that providers are shown. Shared, so not to be changed."""
    strict: bool | None
    """Whether the provider is asked to hold the model to the schema."""
    title: str = field(compare=False)
    """Name for people, such as ``Page[Item]``."""
    wrapped: bool = field(compare=False)
    """The schema is no object, so providers see it as the one field of an object."""
    recursive: bool = field(compare=False)
    """The schema contains itself, so its references cannot be replaced by what they mean."""

    def __init__(
        self,
        schema: type[SchemaT] | dict[str, Any],
        *,
        name: str | None = None,
        description: str | None = None,
        strict: bool | None = None,
    ) -> None:
        """Read a schema.

        Args:
            schema: A pydantic model, dataclass, TypedDict, other type, or JSON schema.
            name: Name for providers; one they would refuse is replaced by a similar one.
            description: What the schema is for.
            strict: Whether the provider is asked to hold the model to the schema.

        Raises:
            ConfigurationError: The schema cannot be used; the message says where.
        """
        self.schema = schema
        self.strict = strict
        self.schema_kind = _kind(schema)
        given = unpacked(schema)
        self.title = _title(given)
        self._check = _check_for(given, self.title)
        told = str(given.get("description", "")) if is_object(given) else type_description(given)
        self.name = safe_name(name or self.title)
        self.recursive = self._check.recursive
        shape = provider_shape(self._check.schema, self.name)
        self.json_schema, self.wrapped = shape.json_schema, shape.wrapped
        if self.wrapped and not told:
            told = f"Gives the answer: {self.title}."
        self.description = description or told

    def validate(self, value: object) -> SchemaT | dict[str, Any]:
        """Give the user's object for an answer.

        Args:
            value: The parsed JSON of the answer, in the form of ``json_schema``.

        Raises:
            SchemaMismatchError: The answer does not fit; the error lists what is wrong.
        """
        if not self.wrapped:
            if not is_object(value):
                raise SchemaMismatchError(
                    self.title, [f"the whole answer: an object is due (got {value_text(value)})"]
                )
            return cast("SchemaT | dict[str, Any]", self._check(value))
        return cast("SchemaT | dict[str, Any]", self._validate_wrapped(value))

    def partial(self, text: str) -> object:
        """Give what can be read from the beginning of an answer, unchecked, or None.

        Args:
            text: The beginning of the answer's JSON: arguments of a call, or a native answer.
        """
        value = partial_value(text)
        if self.wrapped and is_object(value):
            return value.get(WRAPPED_FIELD)
        return value

    def _validate_wrapped(self, value: object) -> object:
        if is_object(value) and WRAPPED_FIELD in value:
            inner = value[WRAPPED_FIELD]
            return self._check(inner, (WRAPPED_FIELD,))
        # Models like to leave the wrapping out. What then fits the schema is no less an answer.
        try:
            return self._check(value)
        except SchemaMismatchError:
            problems = [f"{WRAPPED_FIELD}: this field is missing (got {value_text(value)})"]
            raise SchemaMismatchError(self.title, problems) from None


def _check_for(schema: object, title: str) -> _Check:
    if not is_object(schema):
        return check_for(schema)
    # jsonschema takes as long to import as half of langchain-core, and only these need it.
    from .json_schema import check_for as check_for_json_schema  # noqa: PLC0415

    return check_for_json_schema(schema, title)


def _kind(schema: object) -> SchemaKind:
    if is_object(schema):
        return "json_schema"
    if not isinstance(schema, type):
        return "type"
    kind = cast("type[object]", schema)
    if issubclass(kind, BaseModel):
        return "pydantic"
    if is_dataclass(kind):
        return "dataclass"
    return "typeddict" if is_typeddict(kind) else "type"


def _title(schema: object) -> str:
    if is_object(schema):
        title = schema.get("title")
        return title if isinstance(title, str) and title.strip() else UNTITLED
    return type_name(schema)
