"""Running a check so that its own failure blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Literal, cast

from langgraph.errors import GraphBubbleUp

from ...state.errors import ConfigurationError, WouldBlockError
from ...tools.calls import Calls, Dual
from ...tools.layers import run_flow
from ..flows import Ask, Flow
from .verdict import Verdict, allow, block

Check = Callable[[Any], Any]
"""``(value) -> Verdict``, ``def`` or ``async def``; None and True allow, False blocks."""

Surface = Literal["input", "output", "tool_call", "tool_result"]
"""What a guardrail checks."""

REFUSAL = "I can't help with that."
"""What a user reads when a check gives no reason."""


@dataclass(frozen=True)
class GuardedCheck:
    """A check with its time limit."""

    function: Dual
    timeout_s: float | None = None
    surface: Surface = "input"

    @classmethod
    def of(
        cls, check: Check, name: str, timeout_s: float | None, surface: Surface = "input"
    ) -> GuardedCheck:
        """Prepare a check.

        Args:
            check: The function, or any object that can be called.
            name: Its name.
            timeout_s: Longest time of a check, in seconds; None for no limit.
            surface: What it is given.

        Raises:
            ConfigurationError: It cannot be called, or the limit is not positive.
        """
        if not callable(check):
            msg = f"Guardrail {name!r} needs a function, not {type(check).__name__!r}."
            raise ConfigurationError(msg)
        if timeout_s is not None and timeout_s <= 0:
            msg = f"Guardrail {name!r} has timeout_s {timeout_s!r}; it must be positive."
            raise ConfigurationError(msg)
        is_async = _is_async(check)
        function = Dual(name, asynchronous=check) if is_async else Dual(name, sync=check)
        return cls(function, timeout_s, surface)

    def verdict(self, value: Any) -> Flow[Verdict]:
        """Give the verdict on a value.

        It is ``block`` if the check fails, takes too long or says nothing that can be understood.

        Raises:
            WouldBlockError: The check waits asynchronously and the run is synchronous.
        """
        name = self.function.name
        try:
            said: Any = yield Ask(self.function, (value,), self.timeout_s)
            if isawaitable(said):
                # A plain function that hands out a coroutine, such as a lambda around one.
                waiting = Dual(name, asynchronous=lambda: said)
                said = yield Ask(waiting, (), self.timeout_s)
        except (GraphBubbleUp, WouldBlockError):
            raise
        except Exception as error:  # noqa: BLE001 - a guard that fails lets nothing pass
            return block(f"{name} could not check this ({type(error).__name__}).")
        return self._read(said)

    async def run(self, calls: Calls, value: Any) -> Verdict:
        """:meth:`verdict` in a run of either kind."""
        return await run_flow(self.verdict(value), _no_handler, calls)

    def _read(self, said: Any) -> Verdict:
        name = self.function.name
        if said is None or said is True:
            return allow()
        if said is False:
            return block(REFUSAL)
        if not isinstance(said, Verdict) or said.kind not in ("allow", "revise", "block", "ask"):
            return block(f"{name} gave no verdict.")
        if said.kind == "revise" and not self._fits(said.value):
            form = "arguments" if self.surface == "tool_call" else "text"
            return block(f"{name} revised this to a {type(said.value).__name__}, not to {form}.")
        return said

    def _fits(self, value: Any) -> bool:
        """Whether something can take the place of what was checked."""
        if self.surface != "tool_call":
            return isinstance(value, str)
        return isinstance(value, dict) and all(
            isinstance(key, str) for key in cast("Mapping[Any, Any]", value)
        )


async def _no_handler(wanted: Any) -> Any:
    raise AssertionError(wanted)  # pragma: no cover - a check asks for nothing but its function


def _is_async(check: Any) -> bool:
    """Whether a call has to be awaited, as far as can be known before it is made."""
    while isinstance(check, partial):
        check = cast("partial[Any]", check).func
    # A class is called to make an object, whatever calling that would be.
    call = None if isinstance(check, type) else getattr(check, "__call__", None)  # noqa: B004
    return iscoroutinefunction(check) or iscoroutinefunction(call)
