"""The working state of a node: updates are applied as they come and written out once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.channels.base import BaseChannel
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.channels.last_value import LastValue
from langgraph.types import Overwrite
from pydantic import TypeAdapter, ValidationError

from .channels import MessagesChannel
from .errors import InvalidUpdateError
from .one_write import gathers, one_write, with_messages
from .reducers import (
    HandledBy,
    fold_messages,
    index_messages,
    stamp_messages,
    unknown_removals,
    without_ids,
)
from .suggestion import did_you_mean

Reduce = Callable[[Any, Any], Any]


class KeyRules:
    """How each state key takes an update: made once per agent from its channels."""

    def __init__(
        self,
        channels: Mapping[str, BaseChannel[Any, Any, Any]],
        validators: Mapping[str, TypeAdapter[Any]],
        hidden: frozenset[str] = frozenset(),
        private: frozenset[str] = frozenset(),
    ) -> None:
        self.channels = channels
        self.validators = validators
        self.hidden = hidden
        """Keys that no hook or tool may write."""
        self.private = private
        """Keys that error texts do not list."""
        self.reducers: dict[str, Reduce] = {
            key: channel.operator
            for key, channel in channels.items()
            if isinstance(channel, BinaryOperatorAggregate)
        }
        self.message_keys = frozenset(
            key for key, channel in channels.items() if isinstance(channel, MessagesChannel)
        )
        self.gathered = frozenset(key for key, channel in channels.items() if gathers(channel))
        """Keys of which every update of a node is written, not the last value alone."""

    def merge(self, key: str, current: Any, new: Any, *, missing: bool) -> Any:
        """The value of ``key`` after an update, as its channel would compute it."""
        if isinstance(new, Overwrite):
            return new.value
        if isinstance(new, HandledBy):
            return new.merged_into(None if missing else current)
        reduce = self.reducers.get(key)
        if reduce is not None:
            if missing:
                channel = self.channels[key].copy()
                channel.update([new])
                return channel.get()
            return reduce(current, new)
        channel = self.channels[key]
        if isinstance(channel, LastValue):
            return new
        # A copy: some channels change a list in place.
        present = [*cast("list[Any]", current)] if type(current) is list else current
        channel = channel.copy() if missing else channel.from_checkpoint(present)
        channel.update([new])
        return channel.get()


class SavedState(NamedTuple):
    """A working state at one moment."""

    values: Mapping[str, Any]
    writes: Mapping[str, list[Any]]


class WorkingState:
    """State values that hooks, model and tools change one after the other within a node.

    Each update is merged at once, with the reducer of its key, so the next reader sees it; the
    writes are kept to be handed to langgraph when the node ends. Values that came in are never
    changed.
    """

    def __init__(self, values: Mapping[str, Any], rules: KeyRules) -> None:
        self.values: dict[str, Any] = dict(values)
        self.rules = rules
        self._writes: dict[str, list[Any]] = {}
        self._indexes: dict[str, dict[str | None, int]] = {}
        self._snapshot: dict[str, Any] | None = None
        self.alone = True
        """No other task writes in this superstep, so a key may be replaced as a whole."""

    @property
    def messages(self) -> list[BaseMessage]:
        """The conversation as it stands. Read only."""
        return cast("list[BaseMessage]", self.values.get("messages") or [])

    def snapshot(self) -> dict[str, Any]:
        """The current values for a hook or tool: changing its lists or keys changes nothing here."""
        if self._snapshot is None or not _alike(self._snapshot, self.values):
            self._snapshot = {
                key: [*value] if type(value) is list else value
                for key, value in self.values.items()
            }
        return self._snapshot

    def apply(self, update: Mapping[str, Any], owner: str) -> None:
        """Merge an update.

        Args:
            update: New values by key, as a hook returns them.
            owner: Who returned it, for error texts.

        Raises:
            InvalidUpdateError: A key is not declared or belongs to the library, a value fits
                no schema, or a message to remove is not there.
        """
        for key, value in update.items():
            if key not in self.rules.channels or key in self.rules.hidden:
                self._refuse_key(key, owner)
            if key in self.rules.message_keys and not isinstance(value, (Overwrite, HandledBy)):
                self._add_messages(key, value, owner)
            else:
                self._merge(key, value, owner)
        self._snapshot = None

    def append(self, messages: list[BaseMessage]) -> None:
        """Add messages that are certain to be new, such as a reply just received."""
        self._extend("messages", stamp_messages(messages))
        self._snapshot = None

    def put(self, key: str, value: Any) -> None:
        """Set a key of the library itself, without reducer or check."""
        self.values[key] = value
        self._writes[key] = [value]
        self._snapshot = None

    def show(self, values: Mapping[str, Any]) -> None:
        """Let hooks and tools read values that are not written to the state."""
        before = self.values
        if values.items() <= before.items():
            return
        before.update(values)
        self._snapshot = None

    def take_writes(self) -> list[dict[str, Any]]:
        """The updates that bring langgraph's channels to this state, to be written in order.

        One, unless a key was updated several times in a way that cannot be put together while
        other tasks may write it, too.
        """
        for key, writes in self._writes.items():
            if len(writes) > 1:
                channel, value = self.rules.channels[key], self.values[key]
                self._writes[key] = one_write(channel, writes, value, alone=self.alone)
        rounds = max((len(w) for w in self._writes.values()), default=0)
        updates: list[dict[str, Any]] = [{} for _ in range(rounds)]
        for key, writes in self._writes.items():
            for write, update in zip(reversed(writes), reversed(updates), strict=False):
                update[key] = write
        self._writes = {}
        return updates

    def save(self) -> SavedState:
        """What :meth:`restore` needs to undo everything that follows."""
        return SavedState(dict(self.values), {key: [*w] for key, w in self._writes.items()})

    def restore(self, saved: SavedState) -> None:
        """Go back to a saved state, as if nothing had been written since."""
        self.values, self._writes = dict(saved.values), {k: [*w] for k, w in saved.writes.items()}
        self._indexes = {}
        self._snapshot = None

    def changed_since(self, saved: SavedState) -> bool:
        """Whether anything has been written since."""
        # By identity: values such as arrays cannot be compared.
        before = {key: [*map(id, writes)] for key, writes in saved.writes.items()}
        return before != {key: [*map(id, writes)] for key, writes in self._writes.items()}

    @property
    def changed(self) -> bool:
        """Whether there is anything to write."""
        return bool(self._writes)

    def _merge(self, key: str, value: Any, owner: str) -> None:
        missing = key not in self.values
        validator = self.rules.validators.get(key)
        try:
            merged = plain = self._merged(key, value, owner, missing=missing)
            if validator is not None:
                merged = validator.validate_python(merged)
        except ValidationError as error:
            details = "; ".join(str(e["msg"]) for e in error.errors(include_url=False))
            msg = f"{owner} gave state key {key!r} a value that does not fit it: {details}."
            raise InvalidUpdateError(msg, owner=owner, key=key) from error
        self.values[key] = merged
        self._indexes.pop(key, None)
        if isinstance(value, Overwrite):
            self._writes[key] = [value]
        elif isinstance(value, HandledBy) and self._is_reduced(key):
            self._writes[key] = [Overwrite(merged)]
        elif key in self.rules.gathered:
            pending = self._writes.setdefault(key, [])
            changed = merged is not plain and merged != plain
            if changed or (pending and isinstance(pending[0], Overwrite)):
                # langgraph drops what comes after an overwrite in the same step, and its channel
                # does not know what the validator has made of the value.
                self._writes[key] = [Overwrite(merged)]
            else:
                pending.append(value)
        else:
            kept = validator is not None or isinstance(value, HandledBy)
            self._writes[key] = [merged if kept else value]

    def _merged(self, key: str, value: Any, owner: str, *, missing: bool) -> Any:
        """The value of a key after an update; what a reducer raises is laid to the update."""
        try:
            merged = self.rules.merge(key, self.values.get(key), value, missing=missing)
            if isinstance(value, HandledBy) and key in self.rules.message_keys:
                return stamp_messages(merged)
        except ValidationError:
            raise
        except Exception as error:
            msg = (
                f"What {owner} gave state key {key!r} cannot be merged: "
                f"{type(error).__name__}: {error}"
            )
            raise InvalidUpdateError(msg, owner=owner, key=key) from error
        return merged

    def _is_reduced(self, key: str) -> bool:
        return key in self.rules.reducers or key in self.rules.message_keys

    def _add_messages(self, key: str, value: Any, owner: str) -> None:
        try:
            fresh = without_ids(value)
            update = stamp_messages(value)
        except (ValueError, TypeError, NotImplementedError, AttributeError) as error:
            msg = f"{owner} gave state key {key!r} something that is no message: {error}"
            raise InvalidUpdateError(msg, owner=owner, key=key) from error
        if fresh:
            self._extend(key, update)
            return
        current: list[BaseMessage] = self.values.get(key) or []
        index = self._indexes.get(key)
        if index is None:
            index = self._indexes[key] = index_messages(current)
        if any(isinstance(m, RemoveMessage) for m in update) and (
            missing := unknown_removals(update, index)
        ):
            msg = f"{owner} wants to remove messages that are not there: {missing!r}."
            raise InvalidUpdateError(msg, owner=owner, key=key)
        self.values[key] = fold_messages(current, update, index)
        self._keep(key, update)

    def _extend(self, key: str, update: list[BaseMessage]) -> None:
        """Append messages with ids that nobody has seen, without a look at the old ones."""
        current: list[BaseMessage] = self.values.get(key) or []
        self.values[key] = [*current, *update]
        if (index := self._indexes.get(key)) is not None:
            index.update((m.id, len(current) + n) for n, m in enumerate(update))
        self._keep(key, update)

    def _keep(self, key: str, update: list[BaseMessage]) -> None:
        """Remember an update of messages as part of the one write of this node."""
        pending, value = self._writes.get(key), self.values[key]
        self._writes[key] = with_messages(pending, update, value, alone=self.alone)

    def _refuse_key(self, key: str, owner: str) -> None:
        rules = self.rules
        declared = sorted(set(rules.channels) - rules.hidden)
        known = ", ".join(name for name in declared if name not in rules.private)
        reserved = key in rules.hidden
        what = "belongs to the library" if reserved else "is not declared"
        hint = "" if reserved else did_you_mean(key, declared)
        msg = f"{owner} wrote state key {key!r}, which {what}; the declared keys are {known}.{hint}"
        raise InvalidUpdateError(msg, owner=owner, key=key)


def _alike(shown: dict[str, Any], values: dict[str, Any]) -> bool:
    """Whether nobody has changed what was shown of the values: what is untouched is identical."""
    try:
        return shown == values
    except Exception:  # noqa: BLE001 - what somebody put there need not be comparable
        return False
