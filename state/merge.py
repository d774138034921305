"""Schemas of middleware and agent, merged into one state with its input and output views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, NotRequired, Required, cast

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from .channels import LastWrite, MessageStorage, messages_channel
from .errors import StateSchemaError
from .fields import StateField, read_fields
from .ledger import RESERVED_KEYS, RunLedger, run_scoped
from .schema import AgentState, PrivateStateAttr


@dataclass(frozen=True)
class MergedSchema:
    """What the state of one agent looks like."""

    state: type
    """All keys, as a TypedDict."""
    input: type
    """The keys a caller may give."""
    output: type
    """The keys a run returns."""
    fields: Mapping[str, StateField]
    """Every declared key, without those of the run's ledger."""


def merge_schemas(schemas: Iterable[Any], storage: MessageStorage = "delta") -> MergedSchema:
    """One state from several schemas.

    Args:
        schemas: State schemas of the middleware in registration order, the agent's own last:
            a later declaration of a key wins. A schema may occur several times.
        storage: How the messages of a thread are stored.

    Raises:
        StateSchemaError: A schema declares a reserved key, or two schemas give one key
            different reducers.
    """
    merged = dict(read_fields(AgentState))
    for schema in {id(schema): schema for schema in schemas}.values():
        for key, field in read_fields(schema).items():
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
    return MergedSchema(
        state=_typed_dict("State", annotations),
        input=_typed_dict("Input", _kept(annotations, everything, "input")),
        output=_typed_dict("Output", _kept(annotations, everything, "output")),
        fields=merged,
    )


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
    return one is other or (one is not None and other is not None and bool(one == other))


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
