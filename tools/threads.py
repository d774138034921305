"""Threads of synchronous runs: some that share a batch of calls, and spare ones for single calls.

A call with a time limit may never come back, so it is not given to the threads of the batches,
and its thread does not keep the process from ending.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar, cast

T = TypeVar("T")
Done = tuple[object, BaseException | None]
"""What a job came to: its result, or what it raised."""

Work = tuple[Callable[[], object], "SimpleQueue[Done]"]

THREADS = 16
"""Calls of one synchronous batch that run at the same time, where no limit is set."""

_SPARE: list[SimpleQueue[Work | None]] = []
"""The inboxes of threads that have nothing to do."""


@cache
def batch_pool() -> ThreadPoolExecutor:
    """Threads of the process, made when they are first needed."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="interlock")


def finish(futures: Sequence[Future[None]]) -> None:
    """Wait for the helpers that have begun; the others are not needed any more."""
    for future in futures:
        if not future.cancel():
            future.result()


def run_within(seconds: float, job: Callable[[], T]) -> T:
    """The result of a job that runs in a thread of its own.

    Args:
        seconds: How long to wait for it.
        job: What to do.

    Raises:
        TimeoutError: It took longer. The thread goes on with it.
    """
    done: SimpleQueue[Done] = SimpleQueue()
    try:
        inbox = _SPARE.pop()
    except IndexError:
        inbox = SimpleQueue[Work | None]()
        Thread(target=_work, args=(inbox,), name="interlock-timed", daemon=True).start()
    inbox.put((job, done))
    try:
        value, error = done.get(timeout=seconds)
    except Empty:
        msg = f"It took longer than {seconds:g} s."
        raise TimeoutError(msg) from None
    if error is not None:
        raise error
    return cast("T", value)


def _work(inbox: SimpleQueue[Work | None]) -> None:
    """Do one job after the other, as long as there are not too many that wait for one."""
    while (work := inbox.get()) is not None:
        job, done = work
        try:
            done.put((job(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
            done.put((None, error))
        # What a thread remembers while it waits is not freed.
        del work, job, done
        if len(_SPARE) >= THREADS:
            return
        _SPARE.append(inbox)
