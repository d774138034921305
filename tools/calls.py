"""Synchronous and asynchronous runs from one body of code.

Everything that calls a model, a tool or a hook is written once, as ``async def``, and does its
calls through a :class:`Calls` port. In a synchronous run the port never suspends, so the whole
coroutine is finished by a single step of :func:`run_inline`: no event loop, no thread. This is
the only module of the library that uses asyncio.

Source: the inline coroutine runner of IPython, credited there to Nathaniel J. Smith, 2018.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from inspect import iscoroutinefunction
from itertools import count
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from langchain_core.runnables.config import run_in_executor

from ..state.errors import WouldBlockError
from .threads import THREADS, batch_pool, finish, run_within

T = TypeVar("T")
Job = Callable[[], Coroutine[Any, Any, T]]
Jobs = Iterator[Job[T] | None]


@dataclass(frozen=True)
class Dual:
    """A user's function in the styles it exists in; at least one is there."""

    name: str
    sync: Callable[..., Any] | None = None
    asynchronous: Callable[..., Awaitable[Any]] | None = None
    quick: bool = False
    """The synchronous form waits for nothing, so an asynchronous run needs no thread for it."""

    @classmethod
    def of(cls, function: Callable[..., Any], name: str) -> Dual:
        """A function of either kind."""
        if iscoroutinefunction(function):
            return cls(name, asynchronous=function)
        return cls(name, sync=function)


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What became of one job of a batch."""

    value: T | None = None
    error: Exception | None = None
    """What it raised: a failure, or a signal such as an interrupt."""


class Calls(Protocol):
    """How user code is called in the current run."""

    synchronous: bool
    """Nothing may suspend."""

    async def call(self, function: Dual, *args: Any) -> Any:
        """Call a user's function with ``args`` and return its result."""
        ...

    async def within(self, seconds: float | None, function: Dual, *args: Any) -> Any:
        """:meth:`call` with a time limit in seconds, or without one.

        Raises:
            TimeoutError: The function took longer. A synchronous one goes on in its thread.
        """
        ...

    async def many(self, jobs: Sequence[Job[T]], limit: int | None) -> list[Outcome[T]]:
        """Run jobs, at most ``limit`` at a time, and tell what became of each, in order."""
        ...

    def stream(self, jobs: Jobs[T], limit: int) -> AsyncGenerator[Outcome[T], None]:
        """Run jobs, taken as they may run, and tell what became of each as soon as it is known.

        At most ``limit`` run or wait to be told about. None instead of a job says to let another
        be done first. An early end cancels what runs, or waits for it.
        """
        ...

    def uses_sync(self, function: Dual) -> bool:
        """Whether the synchronous form of ``function`` is the one that is called."""
        ...

    def at_hand(self, function: Dual) -> tuple[Callable[..., Any] | None, bool]:
        """The form of ``function`` that may be called right here, and whether to await its result.

        None where :meth:`call` is needed.
        """
        ...

    def blocking(self, function: Callable[..., Coroutine[Any, Any, T]]) -> Callable[..., T]:
        """A plain function for synchronous user code to call ``function`` with."""
        ...


def run_inline(coroutine: Coroutine[Any, Any, T], what: str = "this run") -> T:
    """The result of a coroutine that never suspends.

    Raises:
        WouldBlockError: It waits for something that only an event loop can deliver.
    """
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    coroutine.close()
    msg = (
        f"{what} waits asynchronously, which a synchronous run cannot do; use ainvoke or astream, "
        "or give a synchronous version."
    )
    raise WouldBlockError(msg)


async def attempt(job: Job[T]) -> Outcome[T]:
    """Run a job and keep what it raises."""
    try:
        return Outcome(value=await job())
    except Exception as error:  # noqa: BLE001 - the batch decides what a failure means
        return Outcome(error=error)


class BlockingCalls:
    """The port of a synchronous run."""

    synchronous = True

    async def call(self, function: Dual, *args: Any) -> Any:
        """Call it here; an asynchronous function is driven as long as it does not suspend."""
        if function.sync is not None:
            return function.sync(*args)
        if function.asynchronous is None:
            raise AssertionError(function)  # pragma: no cover - a Dual has one of the two
        return run_inline(_as_coroutine(function.asynchronous(*args)), function.name)

    async def within(self, seconds: float | None, function: Dual, *args: Any) -> Any:
        """Call it in another thread, to be able to stop waiting."""
        if seconds is None:
            return await self.call(function, *args)
        called, within_context = self.call(function, *args), copy_context().run

        def job() -> Any:
            return within_context(run_inline, called, function.name)

        return run_within(seconds, job)

    async def many(self, jobs: Sequence[Job[T]], limit: int | None) -> list[Outcome[T]]:
        """The caller's thread works through the jobs, helped by threads of a shared pool.

        The caller takes part, so a batch inside a batch cannot starve, and a batch of quick
        calls costs a few submissions instead of one per call.
        """
        outcomes: list[Outcome[T]] = [Outcome()] * len(jobs)
        numbers = count()

        def work() -> None:
            while (number := next(numbers)) < len(jobs):
                outcomes[number] = run_inline(attempt(jobs[number]))

        helpers = min(len(jobs), limit or THREADS) - 1
        futures = [batch_pool().submit(copy_context().run, work) for _ in range(helpers)]
        try:
            work()
        finally:
            finish(futures)
        return outcomes

    async def stream(self, jobs: Jobs[T], limit: int) -> AsyncGenerator[Outcome[T], None]:
        """Threads run the jobs while the caller's thread waits."""
        # Not the shared pool: a stream in a job of a stream would wait for its threads for ever.
        done: SimpleQueue[Future[Outcome[T]]] = SimpleQueue()
        started = 0
        with ThreadPoolExecutor(limit, thread_name_prefix="interlock-stream") as pool:
            while True:
                while started < limit and (job := next(jobs, None)) is not None:
                    work = pool.submit(copy_context().run, run_inline, attempt(job))
                    work.add_done_callback(done.put)
                    started += 1
                if not started:
                    return
                started -= 1
                yield done.get().result()

    def uses_sync(self, function: Dual) -> bool:
        """It is, if there is one."""
        return function.sync is not None

    def at_hand(self, function: Dual) -> tuple[Callable[..., Any] | None, bool]:
        """The synchronous form."""
        return function.sync, False

    def blocking(self, function: Callable[..., Coroutine[Any, Any, T]]) -> Callable[..., T]:
        """``function`` itself, driven inline."""
        return lambda *args: run_inline(function(*args))


class AwaitingCalls:
    """The port of an asynchronous run: user code never blocks the event loop."""

    synchronous = False

    async def call(self, function: Dual, *args: Any) -> Any:
        """Await it, or call a synchronous function in a worker thread with this context."""
        if function.quick and function.sync is not None:
            return function.sync(*args)
        if function.asynchronous is not None:
            return await function.asynchronous(*args)
        if function.sync is None:  # pragma: no cover - a Dual has one of the two
            raise AssertionError(function)
        return await run_in_executor(None, function.sync, *args)

    async def within(self, seconds: float | None, function: Dual, *args: Any) -> Any:
        """Await it for so long."""
        return await asyncio.wait_for(self.call(function, *args), seconds)

    async def many(self, jobs: Sequence[Job[T]], limit: int | None) -> list[Outcome[T]]:
        """One task per job; all are cancelled when this one is."""
        if limit is None or limit >= len(jobs):
            return list(await asyncio.gather(*map(attempt, jobs)))
        places = asyncio.Semaphore(limit)

        async def placed(job: Job[T]) -> Outcome[T]:
            async with places:
                return await attempt(job)

        return list(await asyncio.gather(*map(placed, jobs)))

    async def stream(self, jobs: Jobs[T], limit: int) -> AsyncGenerator[Outcome[T], None]:
        """One task per job; those that run are cancelled when this one is."""
        done: asyncio.Queue[asyncio.Task[Outcome[T]]] = asyncio.Queue()
        started: set[asyncio.Task[Outcome[T]]] = set()
        try:
            while True:
                while len(started) < limit and (job := next(jobs, None)) is not None:
                    task = asyncio.create_task(attempt(job))
                    started.add(task)
                    task.add_done_callback(done.put_nowait)
                if not started:
                    return
                started.discard(task := await done.get())
                yield task.result()
        finally:
            for task in started:
                task.cancel()
            await asyncio.gather(*started, return_exceptions=True)

    def uses_sync(self, function: Dual) -> bool:
        """Only where there is no other."""
        return function.asynchronous is None

    def at_hand(self, function: Dual) -> tuple[Callable[..., Any] | None, bool]:
        """The synchronous form if it waits for nothing, else the asynchronous one."""
        return (function.sync, False) if function.quick else (function.asynchronous, True)

    def blocking(self, function: Callable[..., Coroutine[Any, Any, T]]) -> Callable[..., T]:
        """A function for a worker thread: ``function`` runs on the loop, the thread waits."""
        loop = asyncio.get_running_loop()

        def call(*args: Any) -> T:
            done: Future[T] = Future()
            # The layer may have set context variables for what it calls.
            context = copy_context()

            def start() -> None:
                task = loop.create_task(function(*args), context=context)
                task.add_done_callback(lambda t: _hand_over(t, done))

            loop.call_soon_threadsafe(start)
            return done.result()

        return call


BLOCKING = BlockingCalls()
AWAITING = AwaitingCalls()


def _hand_over(task: asyncio.Task[T], done: Future[T]) -> None:
    if task.cancelled():
        done.cancel()
    elif (error := task.exception()) is not None:
        done.set_exception(error)
    else:
        done.set_result(task.result())


async def _as_coroutine(awaitable: Awaitable[T]) -> T:
    return await awaitable
