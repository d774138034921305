"""State schemas of any kind, read into one form: a field per key."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from inspect import isclass
from typing import (
    Annotated,
    Any,
    NotRequired,
    Required,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from langgraph.channels.base import BaseChannel
from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation
from pydantic_core import PydanticUndefined
from typing_extensions import is_typeddict

from .errors import StateSchemaError
from .schema import AgentState, OmitFromSchema


@dataclass(frozen=True)
class StateField:
    """One key of a state schema."""

    name: str
    annotation: Any
    """The type with everything in ``Annotated``, without ``Required`` and ``NotRequired``."""
    owner: str
    """Name of the schema that declares the key."""
    mark: OmitFromSchema | None = None
    """Where the key is left out."""
    default: Callable[[], Any] | None = None
    """Makes the value of a run that is not given one."""
    validated: bool = False
    """Updates are checked: the schema is a pydantic model, a dataclass or a dict."""
    nullable: bool = False
    """None fits, whatever the type says."""

    @property
    def reducer(self) -> Any:
        """The channel or binary operator in the annotation, if there is one."""
        for item in getattr(self.annotation, "__metadata__", ()):
            if isinstance(item, BaseChannel) or (isclass(item) and issubclass(item, BaseChannel)):
                return cast("Any", item)
        metadata = getattr(self.annotation, "__metadata__", ())
        last = metadata[-1] if metadata else None
        return last if callable(last) and not isclass(last) else None

    @property
    def value_type(self) -> Any:
        """The bare type of a value."""
        return get_args(self.annotation)[0] if self._is_annotated else self.annotation

    @property
    def _is_annotated(self) -> bool:
        return get_origin(self.annotation) is Annotated

    def adapter(self) -> TypeAdapter[Any] | None:
        """A validator of values, or None where pydantic knows no schema for the type."""
        kind = self.value_type | None if self.nullable else self.value_type
        try:
            return TypeAdapter(kind, config={"arbitrary_types_allowed": True})
        except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, TypeError):
            # A BaseModel or TypedDict brings its own configuration and refuses another one.
            pass
        try:
            return TypeAdapter(kind)
        except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, TypeError):
            return None


def read_fields(schema: Any) -> dict[str, StateField]:
    """The fields of a TypedDict, dataclass or pydantic model, in order of declaration.

    Raises:
        StateSchemaError: ``schema`` is of another kind, or an annotation cannot be resolved.
    """
    kind = get_origin(schema) or schema
    name = getattr(kind, "__name__", repr(kind))
    if not isclass(kind) or not (
        is_typeddict(kind) or dataclasses.is_dataclass(kind) or issubclass(kind, BaseModel)
    ):
        msg = (
            f"State schema {name!r} is no TypedDict, dataclass or pydantic model; "
            "derive it from AgentState."
        )
        raise StateSchemaError(msg, owners=[name])
    try:
        hints = get_type_hints(kind, include_extras=True)
    except (NameError, TypeError) as error:
        msg = (
            f"An annotation of state schema {name!r} cannot be resolved: {error}; "
            "import its type at run time, not under TYPE_CHECKING."
        )
        raise StateSchemaError(msg, owners=[name]) from error
    defaults = _defaults(kind)
    strict = not is_typeddict(kind)
    if isclass(kind) and issubclass(kind, BaseModel):
        hints = {key: hints[key] for key in kind.model_fields}
    return {
        key: _field(key, hint, name, defaults.get(key), validated=strict)
        for key, hint in hints.items()
        if key != "__slots__"
    }


def _field(
    key: str, hint: Any, schema: str, default: Callable[[], Any] | None, *, validated: bool
) -> StateField:
    annotation = _bare(hint)
    mark = next((m for m in getattr(annotation, "__metadata__", ()) if _is_mark(m)), None)
    inherited = key in _BASE and annotation == _BASE[key]
    return StateField(
        name=key,
        annotation=annotation,
        owner=AgentState.__name__ if inherited else schema,
        mark=OmitFromSchema(mark.input, mark.output) if mark is not None else None,
        default=default,
        validated=validated and key != "messages",
    )


def _is_mark(item: Any) -> bool:
    """Whether ``item`` is our mark or one of the same shape made for LangChain."""
    return type(item).__name__ == "OmitFromSchema" and hasattr(item, "input")


def _bare(hint: Any) -> Any:
    """The annotation without ``Required``/``NotRequired``, outside or inside ``Annotated``."""
    if get_origin(hint) in (Required, NotRequired):
        return _bare(get_args(hint)[0])
    if get_origin(hint) is Annotated:
        inner, *metadata = get_args(hint)
        if get_origin(inner) in (Required, NotRequired):
            return Annotated[(get_args(inner)[0], *metadata)]
    return hint


def _defaults(kind: Any) -> Mapping[str, Callable[[], Any]]:
    """A maker of the default value per key that has one."""
    if is_typeddict(kind):
        # A TypedDict gives its values no meaning, but keeps them as class attributes.
        values: dict[str, Any] = {}
        for owner in reversed(cast("type", kind).__mro__):
            values.update(vars(owner))
        return {k: _constant(values[k]) for k in kind.__annotations__ if k in values}
    if dataclasses.is_dataclass(kind):
        makers: dict[str, Callable[[], Any]] = {}
        for spec in dataclasses.fields(kind):
            if spec.default_factory is not dataclasses.MISSING:
                makers[spec.name] = spec.default_factory
            elif spec.default is not dataclasses.MISSING:
                makers[spec.name] = _constant(spec.default)
        return makers
    return {
        key: partial(info.get_default, call_default_factory=True, validated_data={})
        for key, info in kind.model_fields.items()
        if info.default is not PydanticUndefined or info.default_factory is not None
    }


def _constant(value: Any) -> Callable[[], Any]:
    """A maker of copies of ``value``, so that runs share no mutable default."""
    return partial(deepcopy, value)


_BASE = {key: _bare(hint) for key, hint in get_type_hints(AgentState, include_extras=True).items()}
