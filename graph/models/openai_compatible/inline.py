"""Ordinary coroutines run to their end without an event loop.

The client is written once, as ``async def``. In a synchronous call everything it awaits is
already done when it is awaited, so one ``send`` finishes it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Coroutine, Generator
from typing import Any, TypeVar

from ....state.errors import WouldBlockError

T = TypeVar("T")


def finish_inline(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that never has to wait.

    Args:
        work: The coroutine.

    Raises:
        WouldBlockError: It awaited something only an event loop can finish.
    """
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    work.close()
    msg = (
        "The chat model reached asynchronous work in a synchronous call. "
        "Use ainvoke or astream, or give it a transport that also works synchronously."
    )
    raise WouldBlockError(msg)


def iterate_inline(items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """Yield the items of an asynchronous generator that never has to wait.

    Args:
        items: The generator; it is closed when this one is.

    Raises:
        WouldBlockError: It awaited something only an event loop can finish.
    """
    try:
        while True:
            try:
                item = finish_inline(items.asend(None))
            except StopAsyncIteration:
                return
            yield item
    finally:
        finish_inline(items.aclose())
