"""Running a check so that its own failure blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from langgraph.errors import GraphBubbleUp
from langgraph.types import interrupt

from ...state.errors import ConfigurationError
from ...tools.calls import Calls, Dual
from .verdict import Verdict, allow, block

Check = Callable[[Any], Any]
"""``(value) -> Verdict``, ``def`` or ``async def``; None and True allow, False blocks."""

REFUSAL = "I can't help with that."
"""What a user reads when a check gives no reason."""


@dataclass(frozen=True)
class GuardedCheck:
    """A check with its time limit."""

    function: Dual
    timeout_s: float | None = None

    @classmethod
    def of(cls, check: Check, name: str, timeout_s: float | None) -> GuardedCheck:
        """Prepare a check.

        Raises:
            ConfigurationError: It cannot be called, or the limit is not positive.
        """
        if not callable(check):
            msg = f"Guardrail {name!r} needs a function, not {type(check).__name__!r}."
            raise ConfigurationError(msg)
        if timeout_s is not None and timeout_s <= 0:
            msg = f"Guardrail {name!r} has timeout_s {timeout_s!r}; it must be positive."
            raise ConfigurationError(msg)
        return cls(Dual.of(check, name), timeout_s)

    async def run(self, calls: Calls, value: Any) -> Verdict:
        """Give the verdict on a value.

        It is ``block`` if the check fails, takes too long or says nothing that can be understood;
        ``ask`` is put to a person and becomes ``allow`` or ``block``.

        Raises:
            GraphInterrupt: A person is to be asked.
        """
        try:
            said = await calls.within(self.timeout_s, self.function, value)
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - a guard that fails lets nothing pass
            return block(f"{self.function.name} could not check this ({type(error).__name__}).")
        verdict = self._read(said)
        if verdict.kind != "ask":
            return verdict
        answer = interrupt(
            {"guardrail": self.function.name, "question": verdict.reason, "value": value}
        )
        return (
            allow() if answer is True or answer == "approve" else block("A reviewer refused this.")
        )

    def _read(self, said: Any) -> Verdict:
        if isinstance(said, Verdict):
            return said
        if said is None or said is True:
            return allow()
        if said is False:
            return block(REFUSAL)
        return block(f"{self.function.name} gave no verdict.")
