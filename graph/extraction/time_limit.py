"""A call that is given up when its time is over, in both styles of calling."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import Any

import anyio

from ...tools.calls import Dual


def limited(function: Dual, seconds: float) -> Dual:
    """Give a function that raises ``TimeoutError`` where ``function`` takes longer.

    A synchronous call cannot be stopped: it goes on in a thread of its own, and what it gives is
    dropped. An asynchronous one is cancelled.
    """
    sync, asynchronous = function.sync, function.asynchronous
    return Dual(
        function.name,
        None if sync is None else _waiting(sync, seconds),
        None if asynchronous is None else _cancelling(asynchronous, seconds),
    )


def _waiting(function: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        done: Future[Any] = Future()
        context = copy_context()

        def work() -> None:
            try:
                done.set_result(context.run(function, *args))
            except BaseException as error:  # noqa: BLE001 -- raised where it is waited for
                done.set_exception(error)

        # Not of a pool: calls that were given up would fill it. Not to be waited for at the
        # end of the program either.
        Thread(target=work, name="interlock-limited", daemon=True).start()
        return done.result(seconds)

    return call


def _cancelling(
    function: Callable[..., Awaitable[Any]], seconds: float
) -> Callable[..., Awaitable[Any]]:
    async def call(*args: Any) -> Any:
        with anyio.fail_after(seconds):
            return await function(*args)

    return call
