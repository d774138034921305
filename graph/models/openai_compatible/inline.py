"""An asynchronous generator run to its end without an event loop.

In a synchronous call everything the client awaits is already done when it is awaited, so each
item takes one step.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from typing import TypeVar

from ....tools.calls import run_inline

T = TypeVar("T")


def iterate_inline(items: AsyncGenerator[T, None], what: str) -> Generator[T, None, None]:
    """Yield the items of an asynchronous generator that never has to wait.

    Args:
        items: The generator; it is closed when this one is.
        what: What runs, for the error.

    Raises:
        WouldBlockError: It awaited something only an event loop can finish.
    """
    try:
        while True:
            try:
                item = run_inline(items.asend(None), what)
            except StopAsyncIteration:
                return
            yield item
    finally:
        run_inline(items.aclose(), what)
