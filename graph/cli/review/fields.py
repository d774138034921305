"""A form for the arguments of a call, made of the JSON schema that an answer must fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

FieldKind = Literal["text", "integer", "number", "boolean", "choice", "json"]
"""How a value is entered; ``json`` is everything that is not a single value."""

_KINDS: Mapping[str, FieldKind] = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}
_MOST_REFERENCES = 20


@dataclass(frozen=True)
class FormField:
    """One argument as a person enters it."""

    name: str
    kind: FieldKind
    hint: str = ""
    """What the schema says about it."""
    required: bool = False
    nullable: bool = False
    """It may be null."""
    choices: tuple[Any, ...] = ()
    """For ``choice``: the values, null not among them."""
    default: Any = None
    """What the tool takes if it is not given; None if the schema does not say."""


def edit_forms(
    schema: Any, tool: str | None, args: Mapping[str, Any]
) -> dict[str, list[FormField]]:
    """The forms for an edit, by the name of the tool that is to run.

    Args:
        schema: The JSON schema of a decision about one call.
        tool: The tool of the call.
        args: Its arguments. One that the schema does not name gets a field too.

    Returns:
        Nothing where no edit is allowed, or the schema says nothing about its arguments.
    """
    document = Schema(schema)
    edit = next((b for b in document.branches(schema) if _constant(b, "type") == "edit"), None)
    action = None if edit is None else document.property(edit, "edited_action")
    forms: dict[str, list[FormField]] = {}
    for branch in document.branches(action):
        name, shape = _constant(branch, "name"), document.property(branch, "args")
        if isinstance(name, str):
            forms[name] = document.fields(shape, args if name == tool else {})
    return forms


def answer_field(schema: Any) -> FormField:
    """How the answer to a question is entered: as text, if nothing is said about it."""
    if not isinstance(schema, Mapping):
        return FormField("answer", "text", required=True)
    return Schema(schema).field("answer", schema, required=True)


class Schema:
    """A JSON schema with its definitions."""

    def __init__(self, document: Any) -> None:
        self._definitions = _mapping(_mapping(document).get("$defs"))

    def resolved(self, schema: Any) -> Mapping[str, Any]:
        """A part of the schema, references followed; empty if it is none."""
        for _ in range(_MOST_REFERENCES):
            if not isinstance(schema, Mapping):
                return {}
            part = cast("Mapping[str, Any]", schema)
            reference = part.get("$ref")
            if not isinstance(reference, str):
                return part
            schema = self._definitions.get(reference.removeprefix("#/$defs/"))
        return {}

    def branches(self, schema: Any) -> list[Mapping[str, Any]]:
        """What a value may be: the branches of a choice, or the only one."""
        part = self.resolved(schema)
        several = part.get("oneOf") or part.get("anyOf")
        if not isinstance(several, list):
            return [part]
        return [self.resolved(branch) for branch in cast("list[Any]", several)]

    def property(self, schema: Mapping[str, Any], name: str) -> Any:
        """The schema of a property of an object."""
        return _mapping(schema.get("properties")).get(name)

    def fields(self, shape: Any, args: Mapping[str, Any]) -> list[FormField]:
        """A field for each property of an object, and for each argument beside them."""
        part = self.resolved(shape)
        properties = _mapping(part.get("properties"))
        listed: Any = part.get("required")
        required = cast("list[Any]", listed) if isinstance(listed, list) else []
        fields = [self.field(k, v, required=k in required) for k, v in properties.items()]
        return [*fields, *(_of_value(k, v) for k, v in args.items() if k not in properties)]

    def field(self, name: str, schema: Any, *, required: bool) -> FormField:
        """The field of one property."""
        outer = self.resolved(schema)
        branches = self.branches(outer)
        values = [b for b in branches if b.get("type") != "null"]
        single = _mapping(values[0] if len(values) == 1 else None)
        choices = _choices(single)
        kind: FieldKind = "choice" if choices else _KINDS.get(str(single.get("type")), "json")
        hint = outer.get("description") or single.get("description") or ""
        return FormField(
            name=name,
            kind=kind,
            hint=str(hint),
            required=required,
            nullable=len(values) < len(branches),
            choices=choices,
            default=outer.get("default"),
        )


def _choices(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    values = schema.get("enum")
    if isinstance(values, list) and all(map(_is_scalar, cast("list[Any]", values))):
        return tuple(v for v in cast("list[Any]", values) if v is not None)
    constant = schema.get("const")
    return (constant,) if constant is not None and _is_scalar(constant) else ()


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _constant(schema: Mapping[str, Any], name: str) -> Any:
    return _mapping(_mapping(schema.get("properties")).get(name)).get("const")


def _mapping(value: Any) -> Mapping[str, Any]:
    """A part of a schema that should be an object; empty if it is none."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _of_value(name: str, value: Any) -> FormField:
    """A field for an argument that the schema does not name."""
    return FormField(name, "text" if isinstance(value, str) else "json")
