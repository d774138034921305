"""The phase in which ``on_error`` hooks are told what failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from langgraph.errors import is_invalid_resume

from ..state.failures import Failure, Record, are_records, record_of, restored
from ..state.history import last_ai_message
from ..state.ledger import Cursor
from ..state.stored_run import unreadable
from .failing import Failing
from .hooking import HookRunner
from .phases import ON_ERROR, Go, Pause
from .stretch import Stretch

_LEDGER, _ENTRY, _CALLS = "run_ledger", "failing", "failed_calls"
"""Where a thread keeps failures that hooks are still to be told of."""


class FailurePhase:
    """Tells all hooks of each failure, and keeps what a pause or a crash must not lose.

    A stored failure is one that hooks are still to be told of. So one that nobody answers is
    cleared from the thread in a superstep of its own and leaves in the next: a retry then begins
    where the run failed, and not at the hooks.
    """

    def __init__(self, stretch: Stretch, hooks: HookRunner, state: dict[str, Any]) -> None:
        """Take the failures that were handed to this node out of its state."""
        self._ledger = stretch.ledger
        self._work = stretch.work
        self._hooks = hooks
        self._has_hooks = stretch.plan.hooks.has(ON_ERROR)
        self._carried: Sequence[Failure] = state.pop("run_failure", None) or ()
        self._calls: list[Record] = state.pop(_CALLS, None) or []
        self._failing: Failing | None = None
        self._recorded = False

    @property
    def has_hooks(self) -> bool:
        """Whether anybody would be told."""
        return self._has_hooks

    def hears(self, error: Exception) -> bool:
        """Whether the hooks are told of what a call raised in a task of its own.

        They are when all calls have ended; otherwise it leaves at once.
        """
        return self._has_hooks and not is_invalid_resume(error)

    @property
    def stored_here(self) -> bool:
        """This node began with the hook that runs now, so a pause repeats nothing."""
        return self._failing is not None and self._failing.stored_here

    def entry(self, cursor: Cursor | None) -> Go | None:
        """Where this node begins if failures were handed to it.

        Raises:
            StorageError: What the thread holds is no failure.
            Exception: A failure that the hooks know and none has answered.
        """
        for failure in self._carried:
            if failure.told:
                raise failure.error
        record, self._ledger.failing = self._ledger.failing, None
        if record is not None:
            self._failing = Failing.load(record, [f.error for f in self._carried])
        elif self._calls:
            self._failing = self._of_calls(cursor or Cursor("tools"))
        elif cursor is not None and cursor.phase == ON_ERROR:
            raise unreadable(_LEDGER, _ENTRY)
        else:
            return None
        self._recorded = True
        return Go(ON_ERROR)

    def begin(self, place: Cursor, errors: Sequence[Exception], *, store: bool) -> Go | Pause:
        """Go to the hooks.

        Args:
            place: Where the run failed.
            errors: The failures, in the order in which they are told.
            store: What happened before them is to be stored first.

        Raises:
            Exception: The first failure, if there is no hook and nothing to store.
        """
        if self._failing is not None and place.phase == ON_ERROR:
            place = self._failing.place
        self._failing = Failing(place, errors)
        if not self._has_hooks:
            return self._leave(errors[0], store=store)
        return self.pause() if store else Go(ON_ERROR)

    async def tell(self) -> Failing | Pause:
        """Tell the hooks that are left of all failures.

        Returns:
            What they answered; or a pause, after which a failure that nobody answered leaves.

        Raises:
            GraphBubbleUp: A hook pauses the run.
            Exception: A failure that nobody answered.
        """
        failing = cast("Failing", self._failing)
        while True:
            await self._hooks.run_on_error(failing)
            if not failing.next_failure():
                break
        if failing.unanswered is not None:
            return self._leave(failing.unanswered, store=self._recorded)
        return failing

    def pause(self) -> Pause:
        """Store the failures, and go on with the hook that has not been told."""
        failing = cast("Failing", self._failing)
        self._ledger.failing = failing.dump()
        return Pause(Cursor(ON_ERROR), [Failure(error) for error in failing.errors])

    def hand_on(self, call_id: str, error: Exception) -> None:
        """Leave the failure of a call to the superstep that takes up all of them."""
        self._work.put(_CALLS, [record_of(error, call_id)])
        self._work.put("run_failure", [Failure(error, call_id)])

    def _leave(self, error: Exception, *, store: bool) -> Pause:
        if store:
            place = cast("Failing", self._failing).place
            return Pause(place, [Failure(error, told=True)])
        raise error

    def _of_calls(self, place: Cursor) -> Failing:
        """The failures of several calls, in call order."""
        if not are_records(self._calls):
            raise unreadable(_CALLS)
        found = last_ai_message(self._work.messages)
        order = {call["id"]: n for n, call in enumerate(found[1].tool_calls if found else ())}
        records = sorted(self._calls, key=lambda r: order.get(r.get("call"), len(order)))
        errors = {failure.call: failure.error for failure in self._carried}
        own = [errors.get(record.get("call")) or restored(record) for record in records]
        return Failing(place, own, stored_here=True)
