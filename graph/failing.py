"""A failure while the ``on_error`` hooks are told of it: plain data where a pause stores it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..state.failures import record_of, restored
from ..state.ledger import Cursor
from .routing import JumpRequest


@dataclass
class Failing:
    """Failures of one phase, told one after the other: several if several tool calls failed."""

    place: Cursor
    """Where the run failed, and where a retry begins."""
    errors: Sequence[Exception]
    position: int = 0
    """Which of them is told now."""
    index: int = 0
    """The first hook that has not been told of it."""
    answered: bool = False
    """A hook has answered it."""
    missed: int | None = None
    """The first one that no hook answered."""
    jump: JumpRequest | None = None
    """The jump that was asked for last."""
    stored_here: bool = False
    """This node began here and nothing has happened since, so a pause repeats nothing."""

    @property
    def error(self) -> Exception:
        """The failure that is told now."""
        return self.errors[self.position]

    @property
    def unanswered(self) -> Exception | None:
        """The failure that ends the run, if one does."""
        return None if self.missed is None else self.errors[self.missed]

    def took(self, jump: JumpRequest | None, *, changed: bool) -> None:
        """A hook has completed: it answered if it changed the state or asked for a jump."""
        self.jump = jump or self.jump
        self.answered = self.answered or changed or jump is not None

    def next_hook(self) -> None:
        """Go on with the next hook."""
        self.index += 1
        self.stored_here = False

    def next_failure(self) -> bool:
        """Go on with the next failure, if there is one."""
        if not self.answered and self.missed is None:
            self.missed = self.position
        self.position, self.index, self.answered = self.position + 1, 0, False
        return self.position < len(self.errors)

    def dump(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        jump = self.jump
        return {
            "place": [self.place.phase, self.place.index],
            "errors": [record_of(error) for error in self.errors],
            "position": self.position,
            "index": self.index,
            "answered": self.answered,
            "missed": self.missed,
            "jump": jump and [jump.owner, jump.target, jump.allowed, jump.stop_reason],
        }

    @classmethod
    def load(cls, stored: dict[str, Any], errors: Sequence[Exception]) -> Failing:
        """What :meth:`dump` gave, with the errors themselves if they are still there."""
        values = dict(stored)
        records, jump = values.pop("errors"), values.pop("jump")
        if jump is not None:
            owner, target, allowed, reason = jump
            jump = JumpRequest(owner, target, None if allowed is None else tuple(allowed), reason)
        if len(errors) != len(records):
            errors = [restored(record) for record in records]
        place = Cursor(*values.pop("place"))
        return cls(place, errors, **values, jump=jump, stored_here=True)
