"""Functions as hooks over the live state: ``@hook``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, overload

from ..state.errors import ConfigurationError, WouldBlockError
from ..state.schema import JumpTo
from .base import hook_config
from .hook_signature import check_takes_state

Function = Callable[..., Any]


class FunctionHook:
    """A hook made of a function over the live state, or of one for each kind of run.

    The function is called with the agent's ``State``, and with the runtime if it takes two
    arguments. It changes the state by ``state.set``, returns an update, or both.
    """

    def __init__(
        self,
        function: Function | None = None,
        async_function: Function | None = None,
        *,
        allowed_hook_points: Sequence[str] | None = None,
        can_jump_to: Sequence[JumpTo] | None = None,
        interrupts: bool | None = None,
    ) -> None:
        """Make a hook.

        Args:
            function: For synchronous runs, and for asynchronous ones without ``async_function``.
            async_function: For asynchronous runs.
            allowed_hook_points: The points it may be registered at; None for all.
            can_jump_to: The jumps it may take; None for all.
            interrupts: It calls ``interrupt``.

        Raises:
            ConfigurationError: There is no function, one is of the wrong kind, or one cannot be
                given the state.
        """
        given = [f for f in (function, async_function) if f is not None]
        if not given:
            msg = "A FunctionHook needs a function, an async_function, or both."
            raise ConfigurationError(msg)
        self.__name__ = name_of(given[0])
        self.__doc__ = given[0].__doc__
        for wanted, found in ((False, function), (True, async_function)):
            self._check(found, asynchronous=wanted)
        self.function = function
        self.async_function = async_function
        self.allowed_hook_points = allowed_hook_points
        hook_config(can_jump_to=can_jump_to, interrupts=interrupts)(self)
        for mark in ("__can_jump_to__", "__interrupts__"):
            if not hasattr(self, mark) and hasattr(given[0], mark):
                setattr(self, mark, getattr(given[0], mark))

    def run(self, *args: Any) -> Any:
        """Call the synchronous function, as a synchronous run does.

        Raises:
            WouldBlockError: There is none.
        """
        if self.function is None:
            msg = f"Hook {self.__name__!r} is asynchronous; use ainvoke, or give it a function."
            raise WouldBlockError(msg)
        return self.function(*args)

    async def run_async(self, *args: Any) -> Any:
        """Await the asynchronous function, or call the synchronous one."""
        if self.async_function is None:
            return self.run(*args)
        return await self.async_function(*args)

    __call__ = run

    def _check(self, function: Function | None, *, asynchronous: bool) -> None:
        if function is None:
            return
        if not callable(function) or iscoroutinefunction(function) is not asynchronous:
            kind = "async_function" if asynchronous else "function"
            wanted = "an async def" if asynchronous else "a def"
            msg = f"{kind} of a FunctionHook is {function!r}; give {wanted} function."
            raise ConfigurationError(msg)
        check_takes_state(function, self.__name__)


@overload
def hook(function: Function, /) -> FunctionHook: ...


@overload
def hook(
    function: None = None,
    /,
    *,
    allowed_hook_points: Sequence[str] | None = None,
    can_jump_to: Sequence[JumpTo] | None = None,
    interrupts: bool | None = None,
) -> Callable[[Function], FunctionHook]: ...


def hook(
    function: Function | None = None,
    /,
    *,
    allowed_hook_points: Sequence[str] | None = None,
    can_jump_to: Sequence[JumpTo] | None = None,
    interrupts: bool | None = None,
) -> FunctionHook | Callable[[Function], FunctionHook]:
    """Make a function a hook for ``hooks={point: [...]}``; with or without settings.

    Args:
        function: ``(state: State)`` or ``(state: State, runtime)``, ``def`` or ``async def``.
        allowed_hook_points: The points it may be registered at; None for all.
        can_jump_to: The jumps it may take; None for all.
        interrupts: It calls ``interrupt``.

    Raises:
        ConfigurationError: The function cannot be given the state.

    Source: the hooks of Haystack 3.4.
    """

    def decorate(given: Function) -> FunctionHook:
        slot = "async_function" if iscoroutinefunction(given) else "function"
        return FunctionHook(
            **{slot: given},
            allowed_hook_points=allowed_hook_points,
            can_jump_to=can_jump_to,
            interrupts=interrupts,
        )

    return decorate if function is None else decorate(function)


def name_of(function: Any) -> str:
    """A function's name; that of the function inside a partial; else that of the class."""
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__
