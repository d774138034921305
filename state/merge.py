"""Schemas of middleware and agent, merged into one state with its input and output views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from inspect import isclass
from typing import Annotated, Any, NotRequired, Required, cast

from langchain_core.messages import AnyMessage
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from .channels import LastWrite, MessageStorage, messages_channel
from .errors import StateSchemaError
from .fields import StateField, read_fields
from .ledger import RESERVED_KEYS, RunLedger, run_scoped
from .reducers import Handler
from .schema import AgentState, PrivateStateAttr
from .schema_dict import read_schema_dict


@dataclass(frozen=True)
class MergedSchema:
    """What the state of one agent looks like."""

    state: type
    """All keys, as a TypedDict."""
    input: type
    """The keys a caller may give."""
    output: type
    """The keys a run returns."""
    shown: type
    """The keys that traces and streams may see: all but the private ones."""
    fields: Mapping[str, StateField]
    """Every declared key, without those of the run's ledger."""
    private: frozenset[str]
    """Keys that only hooks and tools see; ``jump_to`` is not among them."""


def merge_schemas(schemas: Iterable[Any], storage: MessageStorage = "delta") -> MergedSchema:
    """One state from several schemas.

    Args:
        schemas: State schemas of the middleware in registration order, the agent's own last:
            a later declaration of a key wins. A schema may occur several times, and may be a
            dict, see :func:`~interlock.state.schema_dict.read_schema_dict`.
        storage: How the messages of a thread are stored.

    Raises:
        StateSchemaError: A schema declares a reserved key, or two schemas give one key
            different reducers.
    """
    distinct = tuple({id(schema): schema for schema in schemas}.values())
    classes = all(isclass(schema) for schema in distinct)
    return _merged(distinct, storage) if classes else _merge(distinct, storage)


def _merge(schemas: tuple[Any, ...], storage: MessageStorage) -> MergedSchema:
    merged = dict(read_fields(AgentState))
    for schema in schemas:
        for key, field in read_schema(schema).items():
            if key in RESERVED_KEYS:
                msg = (
                    f"State schema {field.owner!r} declares {key!r}, which belongs to the "
                    "library; choose another name."
                )
                raise StateSchemaError(msg, key=key, owners=[field.owner])
            merged[key] = _meet(merged[key], field) if key in merged else field
    annotations = {key: _annotate(field, storage) for key, field in merged.items()}
    ledger = read_fields(RunLedger)
    annotations |= {key: NotRequired[f.annotation] for key, f in ledger.items()}
    everything = {**merged, **ledger}
    private = frozenset(key for key, field in merged.items() if _is_private(field))
    visible = {key: item for key, item in annotations.items() if key not in private}
    return MergedSchema(
        state=_typed_dict("State", annotations),
        input=_typed_dict("Input", _kept(annotations, everything, "input")),
        output=_typed_dict("Output", _kept(annotations, everything, "output")),
        shown=_typed_dict("Shown", visible),
        fields=merged,
        private=private,
    )


_merged = lru_cache(maxsize=256)(_merge)
"""The same for classes: what they declare is fixed, and one agent is built like the next."""


def _is_private(field: StateField) -> bool:
    """Whether a key is neither given nor returned, and is no part of the hook contract."""
    mark = field.mark
    return mark is not None and mark.input and mark.output and field.name != "jump_to"


def read_schema(schema: Any) -> dict[str, StateField]:
    """The fields of a state schema of any kind: a class, or a dict of types and handlers.

    Raises:
        StateSchemaError: It is of another kind, or an entry cannot be read.
    """
    if isinstance(schema, Mapping):
        return read_schema_dict(cast("Mapping[Any, Any]", schema))
    return read_fields(schema)


def _meet(earlier: StateField, later: StateField) -> StateField:
    """The declaration that holds where two schemas declare one key."""
    if later.owner == AgentState.__name__ != earlier.owner:
        return earlier
    if earlier.owner != AgentState.__name__ and not _same(earlier.reducer, later.reducer):
        msg = (
            f"State key {later.name!r} has different reducers in {earlier.owner!r} and "
            f"{later.owner!r}; give it the same one in both, or rename one of the keys."
        )
        raise StateSchemaError(msg, key=later.name, owners=[earlier.owner, later.owner])
    return replace(
        later,
        mark=later.mark if later.mark is not None else earlier.mark,
        default=later.default or earlier.default,
    )


def _same(one: Any, other: Any) -> bool:
    one, other = function_of(one), function_of(other)
    return one is other or (one is not None and other is not None and bool(one == other))


def function_of(reducer: Any) -> Any:
    """A reducer as a schema names it: the merge function out of the channel that holds it."""
    operator: Any = reducer
    if isinstance(reducer, BinaryOperatorAggregate):
        operator = cast("Any", reducer).operator
    return operator.function if isinstance(operator, Handler) else operator


def _annotate(field: StateField, storage: MessageStorage) -> Any:
    """The annotation that langgraph makes the key's channel of."""
    annotation = field.annotation
    if field.reducer is add_messages:
        annotation = Annotated[list[AnyMessage], messages_channel(storage)]
    elif field.name == "jump_to" and field.owner == AgentState.__name__:
        annotation = Annotated[(field.value_type, run_scoped(), PrivateStateAttr)]
    elif field.reducer is None:
        annotation = Annotated[(annotation, LastWrite(field.value_type))]
    return Required[annotation] if field.name == "messages" else NotRequired[annotation]


def _kept(
    annotations: Mapping[str, Any], fields: Mapping[str, StateField], view: str
) -> dict[str, Any]:
    return {
        key: annotation
        for key, annotation in annotations.items()
        if not getattr(fields[key].mark, view, False)
    }


def _typed_dict(name: str, annotations: Mapping[str, Any]) -> type:
    # A name only known at run time is what the functional form is for.
    return cast("type", TypedDict(name, dict(annotations)))  # type: ignore[operator]
