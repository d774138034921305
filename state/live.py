"""The agent's own state as hooks and tools see it while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from .errors import InvalidUpdateError
from .fields import StateField
from .schema import JUMP_TARGETS
from .state import State
from .working import KeyRules, WorkingState

SIGNALS = ("continue_run", "stop_run", "jump_to")
"""Keys that say where the run goes; they are no part of the state."""


class LiveState(State):
    """A view of an agent's state for as long as one hook or tool runs.

    It reads what the run knows: the state, the run's counters, and what it is shown beside them.
    ``set`` changes the state at once; ``continue_run``, ``stop_run`` and ``jump_to`` are taken
    when the hook has returned.
    """

    def __init__(
        self,
        work: WorkingState,
        fields: Mapping[str, StateField],
        owner: str,
        shown: Mapping[str, Callable[[], Any]] | None = None,
    ) -> None:
        """Look at a working state.

        Args:
            work: The state.
            fields: Its declared keys.
            owner: Who is given the view, for error texts.
            shown: What can be read beside the state, as functions that are asked for it.
        """
        self._work = work
        self._fields = fields
        self._owner = owner
        self._shown = dict(shown or {})
        self._closed = False
        self._words: tuple[str, ...] = SIGNALS
        self.signals: dict[str, Any] = {}
        """What the hook said about where the run goes."""
        self.written: dict[str, list[Any]] = {}
        """What was given to each key that was set, in order."""

    def close(self) -> None:
        """Refuse further writes: who was given the view has returned."""
        self._closed = True

    def set(
        self,
        key: str,
        value: Any,
        handler_override: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        """Merge a value into ``key``, or say where the run goes.

        Raises:
            InvalidUpdateError: As :meth:`State.set`; or the word for where the run goes is
                wrong, or whoever was given this state has returned already.
        """
        if self._closed:
            msg = f"{self._owner} has returned; what it sets in its state now would be lost."
            raise InvalidUpdateError(msg, owner=self._owner, key=key)
        if key in self._words:
            check_signal(self._owner, key, value)
            self.signals[key] = value
            return
        super().set(key, value, handler_override)
        self.written.setdefault(key, []).append(value)

    def report(self, returned: Any) -> Any:
        """What was said and set, with an update that was returned: for a trace."""
        if returned is not None and not isinstance(returned, Mapping):
            return returned
        given = {key: w[0] if len(w) == 1 else w for key, w in self.written.items()}
        told = {**self.signals, **given, **cast("Mapping[str, Any]", returned or {})}
        return told or None

    def __getitem__(self, key: str) -> Any:
        if key in self.signals:
            return self.signals[key]
        if key in self._shown:
            return self._shown[key]()
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        return key in self.signals or key in self._shown or super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*super().__iter__(), *self._shown, *self.signals]))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class ToolState(LiveState):
    """An agent's state as one tool call sees it; what it writes counts if the call succeeds."""

    def __init__(
        self,
        values: Mapping[str, Any],
        owner: str,
        *,
        rules: KeyRules,
        fields: Mapping[str, StateField],
    ) -> None:
        """Look at values without changing them.

        Args:
            values: The state.
            owner: The tool, for error texts.
            rules: How its keys take an update.
            fields: Its declared keys.
        """
        super().__init__(WorkingState(values, rules), fields, owner)
        self._words = ("jump_to",)

    def set(
        self,
        key: str,
        value: Any,
        handler_override: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        """Merge a value into ``key``, see :meth:`LiveState.set`.

        Raises:
            InvalidUpdateError: As there; or messages are to be replaced, the call among them.
        """
        if handler_override is not None and key in self._work.rules.message_keys:
            msg = f"{self._owner} may not replace {key!r}, which hold its own call; add messages."
            raise InvalidUpdateError(msg, owner=self._owner, key=key)
        super().set(key, value, handler_override)

    def take_writes(self) -> list[dict[str, Any]]:
        """What was set, as updates to be applied in order."""
        return [*self._work.take_writes(), *([self.signals] if self.signals else [])]


def check_signal(owner: str, key: str, value: Any) -> None:
    """Refuse a word about where the run goes that means nothing.

    Raises:
        InvalidUpdateError: With what is meant to be there.
    """
    if key == "stop_run":
        fits, wanted = (
            value is None or (isinstance(value, str) and bool(value)),
            "the exit reason as a word",
        )
    elif key == "continue_run":
        fits, wanted = isinstance(value, bool), "True or False"
    else:
        fits, wanted = value is None or value in JUMP_TARGETS, f"one of {', '.join(JUMP_TARGETS)}"
    if not fits:
        msg = f"{owner} set {key} to {value!r}; give {wanted}."
        raise InvalidUpdateError(msg, owner=owner, key=key)
