from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar
from functools import partial
from typing import Any

import pytest

from interlock.state.errors import WouldBlockError
from interlock.tools.calls import AWAITING, BLOCKING, Dual, run_inline
from interlock.tools.threads import THREADS

NAME: ContextVar[str] = ContextVar("name", default="nobody")


async def plain(value: Any) -> Any:
    return value


async def suspending() -> None:
    await asyncio.sleep(0)


def test_a_coroutine_that_never_suspends_is_finished_inline() -> None:
    async def outer() -> int:
        return int(await plain(1)) + int(await plain(2))

    assert run_inline(outer()) == 3


def test_a_coroutine_that_suspends_is_an_error_that_says_so() -> None:
    with pytest.raises(WouldBlockError, match=r"Guard\.before_model waits.*ainvoke"):
        run_inline(suspending(), "Guard.before_model")


async def test_it_works_inside_a_running_loop() -> None:
    assert run_inline(plain("x")) == "x"


def test_in_a_synchronous_run_the_synchronous_form_is_called() -> None:
    both = Dual("f", sync=lambda: "sync", asynchronous=partial(plain, "async"))
    assert run_inline(BLOCKING.call(both)) == "sync"
    assert run_inline(BLOCKING.call(Dual("f", asynchronous=partial(plain, "async")))) == "async"


async def test_in_an_asynchronous_run_a_synchronous_function_leaves_the_loop() -> None:
    here = threading.get_ident()
    NAME.set("kim")
    function = Dual("f", sync=lambda: (threading.get_ident(), NAME.get()))
    thread, name = await AWAITING.call(function)
    assert thread != here
    assert name == "kim"


@pytest.mark.parametrize("limit", [None, 1, 3])
def test_a_synchronous_batch_keeps_order_errors_and_context(limit: int | None) -> None:
    NAME.set("lee")

    async def job(number: int) -> str:
        if number == 2:
            msg = "two"
            raise LookupError(msg)
        return f"{number} {NAME.get()}"

    outcomes = run_inline(BLOCKING.many([partial(job, n) for n in range(4)], limit))
    assert [o.value for o in outcomes] == ["0 lee", "1 lee", None, "3 lee"]
    assert isinstance(outcomes[2].error, LookupError)


def test_a_batch_inside_a_batch_does_not_starve() -> None:
    async def inner(number: int) -> int:
        return number

    async def outer(number: int) -> int:
        outcomes = await BLOCKING.many([partial(inner, n) for n in range(20)], None)
        return number + sum(o.value or 0 for o in outcomes)

    outcomes = run_inline(BLOCKING.many([partial(outer, n) for n in range(40)], None))
    assert [o.value for o in outcomes] == [n + 190 for n in range(40)]


async def test_an_asynchronous_batch_holds_its_limit() -> None:
    running: list[int] = []
    most: list[int] = []

    async def job() -> None:
        running.append(1)
        most.append(len(running))
        await asyncio.sleep(0)
        running.pop()

    await AWAITING.many([job] * 10, 3)
    assert max(most) == 3


async def test_cancelling_a_batch_cancels_its_jobs() -> None:
    started = asyncio.Event()
    cancelled: list[int] = []

    async def job() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(1)
            raise

    batch = asyncio.create_task(AWAITING.many([job, job], None))
    await started.wait()
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch
    assert cancelled == [1, 1]


def test_calls_that_hang_leave_the_next_ones_their_time() -> None:
    free = threading.Event()
    try:
        hanging = Dual("hangs", sync=free.wait)
        for _ in range(THREADS + 1):
            with pytest.raises(TimeoutError):
                run_inline(BLOCKING.within(0.001, hanging))
        assert run_inline(BLOCKING.within(10, Dual("quick", sync=lambda: "done"))) == "done"
        outcomes = run_inline(BLOCKING.many([partial(plain, n) for n in range(4)], None))
        assert [o.value for o in outcomes] == [0, 1, 2, 3]
    finally:
        free.set()


def test_a_call_with_a_time_limit_has_the_context_and_hands_on_what_it_raises() -> None:
    NAME.set("lee")

    def fail() -> None:
        msg = NAME.get()
        raise LookupError(msg)

    with pytest.raises(LookupError, match="lee"):
        run_inline(BLOCKING.within(10, Dual("fails", sync=fail)))
