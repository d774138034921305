from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Any

import anyio
import pytest

from interlock.tools.calls import AWAITING, BLOCKING, Calls, Dual, Job, Outcome, run_inline

Gather = Callable[..., Awaitable[list[Outcome[int]]]]


@pytest.fixture(params=[BLOCKING, AWAITING], ids=["blocking", "awaiting"])
def calls(request: pytest.FixtureRequest) -> Calls:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def gather(calls: Calls) -> Gather:
    """All outcomes of a stream, without an event loop on the blocking side."""

    async def collected(jobs: Iterator[Any], limit: int) -> list[Outcome[int]]:
        return [outcome async for outcome in calls.stream(jobs, limit)]

    async def run(jobs: Iterator[Any], limit: int) -> list[Outcome[int]]:
        if calls.synchronous:
            return run_inline(collected(jobs, limit))
        return await collected(jobs, limit)

    return run


def giving(number: int) -> Job[int]:
    async def job() -> int:
        return number

    return job


def failing(number: int) -> Job[int]:
    async def job() -> int:
        raise ValueError(number)

    return job


async def test_every_job_has_one_outcome(gather: Gather) -> None:
    outcomes = await gather(map(giving, range(100)), 7)

    assert sorted(o.value for o in outcomes if o.value is not None) == list(range(100))


async def test_no_jobs_give_no_outcome(gather: Gather) -> None:
    assert await gather(iter(()), 3) == []


async def test_failure_is_an_outcome_and_the_others_go_on(gather: Gather) -> None:
    outcomes = await gather(iter([failing(1), giving(2)]), 1)

    assert [(str(o.error), o.value) for o in outcomes] == [("1", None), ("None", 2)]


async def test_no_more_jobs_run_than_the_limit(calls: Calls, gather: Gather) -> None:
    lock, running, most = threading.Lock(), 0, 0
    pause = Dual("pause", threading.Event().wait, anyio.sleep)

    async def job() -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        await calls.call(pause, 0.001)
        with lock:
            running -= 1
        return 0

    await gather(iter([job] * 40), 20)

    assert 1 < most <= 20


async def test_jobs_are_taken_when_they_may_run(calls: Calls) -> None:
    taken: list[int] = []

    def jobs() -> Iterator[Job[int]]:
        for number in range(10):
            taken.append(number)
            yield giving(number)

    stream = calls.stream(jobs(), 2)
    first: Any = anext(stream)
    assert taken == []
    if calls.synchronous:
        run_inline(first)
        run_inline(stream.aclose())
    else:
        await first
        await stream.aclose()
    assert taken == [0, 1]


async def test_quickest_is_told_first(calls: Calls, gather: Gather) -> None:
    told = threading.Event() if calls.synchronous else asyncio.Event()
    wait = Dual("wait", told.wait, told.wait)  # type: ignore[arg-type]

    async def slow() -> int:
        await calls.call(wait)
        return 0

    def jobs() -> Iterator[Job[int] | None]:
        yield slow
        yield giving(1)
        yield None
        told.set()

    assert [o.value for o in await gather(jobs(), 3)] == [1, 0]


async def test_pause_of_the_jobs_ends_with_the_next_outcome(gather: Gather) -> None:
    jobs = iter([giving(0), None, giving(1), None, giving(2)])

    assert [o.value for o in await gather(jobs, 5)] == [0, 1, 2]


async def test_error_of_the_jobs_leaves_nothing_running(calls: Calls, gather: Gather) -> None:
    begun, ended = [], list[str]()
    wait = Dual("wait", threading.Event().wait, anyio.sleep)

    async def job() -> int:
        begun.append("one")
        try:
            await calls.call(wait, 0.01 if calls.synchronous else 60)
        finally:
            ended.append("one")
        return 0

    def jobs() -> Iterator[Job[int]]:
        yield job
        yield job
        msg = "no more input"
        raise OSError(msg)

    with pytest.raises(OSError, match="no more input"):
        await gather(jobs(), 3)
    assert begun == ended


def test_stream_within_streams_does_not_starve() -> None:
    def nested(depth: int) -> Job[int]:
        async def job() -> int:
            if not depth:
                return 1
            inner: AsyncGenerator[Outcome[int], None] = BLOCKING.stream(
                iter([nested(depth - 1)] * 3), 3
            )
            return sum([outcome.value or 0 async for outcome in inner])

        return job

    assert run_inline(nested(4)()) == 81
