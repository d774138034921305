from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.errors import _INVALID_RESUME  # pyright: ignore[reportPrivateUsage] - its mark

from interlock.tools.calls import AWAITING, BLOCKING, Calls, Dual, run_inline
from interlock.tools.layers import Ask, Flow, Layer, LayerStack, call_layer, run_flow


async def test_a_synchronous_layer_reaches_its_handler_on_the_loop() -> None:
    loop_thread = threading.get_ident()

    async def handler(request: int) -> tuple[int, int]:
        await asyncio.sleep(0)
        return request + 1, threading.get_ident()

    def layer(request: int, inner: Any) -> Any:
        value, thread = inner(request)
        return value, thread, threading.get_ident()

    value, handled_in, layered_in = await call_layer(AWAITING, Dual("l", sync=layer), handler, 1)
    assert value == 2
    assert handled_in == loop_thread
    assert layered_in != loop_thread


async def test_an_error_crosses_from_the_handler_to_the_layer() -> None:
    async def handler(_request: int) -> None:
        msg = "inner"
        raise LookupError(msg)

    def layer(request: int, inner: Any) -> str:
        try:
            inner(request)
        except LookupError as error:
            return f"caught {error}"
        return "nothing"

    assert await call_layer(AWAITING, Dual("l", sync=layer), handler, 1) == "caught inner"


class FailedError(Exception):
    """What steps of the random layers raise."""


def passes(mark: str, request: str) -> Flow[str]:
    return f"{mark}<{(yield request + mark)}>"


def again(mark: str, request: str) -> Flow[str]:
    first = yield request + mark
    return f"{first}&{(yield request + mark.upper())}"


def retries(mark: str, request: str) -> Flow[str]:
    for attempt in range(3):
        try:
            return str((yield request + mark + str(attempt)))
        except FailedError:
            continue
    return "gave up"


def answers(mark: str, request: str) -> Flow[str]:
    return mark + request
    yield


def fails_first(mark: str, request: str) -> Flow[str]:
    raise FailedError(mark)
    yield request


def fails_last(mark: str, request: str) -> Flow[str]:
    yield request
    raise FailedError(mark)


def asks(mark: str, request: str) -> Flow[str]:
    async def later(text: str) -> str:
        await asyncio.sleep(0)
        return text.title()

    told = yield Ask(Dual("ask", str.title, later), (mark,))
    try:
        answer = yield request + told
    except FailedError as error:
        return f"{(yield Ask(Dual('ask', str.title, later), (str(error),)))}!"
    return f"{answer}{(yield Ask(Dual('ask', str.title, later), (mark,)))}"


FLOWS = [passes, again, retries, answers, fails_first, fails_last, asks]


def plain(mark: str, request: str, handler: Callable[[str], str]) -> str:
    try:
        return f"{mark}[{handler(request)}]"
    except FailedError:
        return handler(request + "retried")


async def later(mark: str, request: str, handler: Any) -> str:
    return f"{mark}({await handler(request)})"


def made(kind: Any, mark: str) -> Layer:
    if kind == "change":
        return Layer(mark, change=lambda request: request + mark)
    if kind is plain:
        return Layer(mark, sync=partial(plain, mark))
    if kind is later:
        return Layer(mark, asynchronous=partial(later, mark))
    return Layer(mark, flow=partial(kind, mark))


KINDS = st.lists(st.sampled_from([*FLOWS, "change", plain, later]), max_size=5)


async def outcome(stack: LayerStack, seen: list[str]) -> Any:
    try:
        return await stack.run("."), seen
    except FailedError as error:
        return repr(error), seen


@given(KINDS, st.integers(0, 3), st.booleans())
async def test_layers_on_the_stack_do_what_layers_inside_each_other_do(
    kinds: list[Any], failures: int, asynchronous: bool
) -> None:
    layers = [made(kind, "abcde"[n]) for n, kind in enumerate(kinds)]
    calls: Calls = AWAITING if asynchronous else BLOCKING
    outcomes: list[Any] = []
    for flat in (True, False):
        seen: list[str] = []

        async def core(request: str, seen: list[str] = seen) -> str:
            seen.append(request)
            if len(seen) <= failures:
                raise FailedError(request)
            return f"({request})"

        stack = LayerStack(layers, core, calls, flat=flat)
        if asynchronous:
            outcomes.append(await outcome(stack, seen))
        else:
            outcomes.append(run_inline(outcome(stack, seen)))

    assert outcomes[0] == outcomes[1]


async def test_a_wrong_answer_to_a_pause_is_no_flows_business() -> None:
    wrong = ValueError("no such decision")
    setattr(wrong, _INVALID_RESUME, True)
    ended: list[str] = []

    def guard(request: str) -> Flow[str]:
        try:
            return str((yield request))
        except ValueError:
            return "handled"
        finally:
            ended.append("guard")

    async def core(_request: str) -> str:
        raise wrong

    with pytest.raises(ValueError, match="no such decision"):
        await LayerStack([Layer("guard", flow=guard)], core, AWAITING).run("x")
    assert ended == ["guard"]


async def test_cancelling_ends_every_flow_on_the_stack() -> None:
    ended: list[str] = []
    waiting = asyncio.Event()

    def guard(mark: str, request: str) -> Flow[str]:
        try:
            return str((yield request))
        finally:
            ended.append(mark)

    async def core(_request: str) -> str:
        waiting.set()
        await asyncio.Event().wait()
        return ""

    layers = [Layer(m, flow=partial(guard, m)) for m in "ab"]
    task = asyncio.create_task(LayerStack(layers, core, AWAITING).run("x"))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["b", "a"]


def test_a_failure_is_freed_with_its_last_reference() -> None:
    class Big:
        pass

    def guard(request: Any) -> Flow[Any]:
        return (yield request)

    async def core(request: Big) -> None:
        raise FailedError(request)

    gc.disable()
    try:
        big = Big()
        known = weakref.ref(big)
        with pytest.raises(FailedError):
            run_inline(LayerStack([Layer("guard", flow=guard)], core, BLOCKING).run(big))
        del big
        assert known() is None
    finally:
        gc.enable()


async def test_an_ask_with_a_limit_fails_when_it_takes_too_long() -> None:
    def flow() -> Flow[str]:
        try:
            return str((yield Ask(Dual("wait", asynchronous=asyncio.sleep), (60,), 0.01)))
        except TimeoutError:
            return "too long"

    async def handler(_: Any) -> None:
        raise AssertionError

    assert await run_flow(flow(), handler, AWAITING) == "too long"


async def test_what_a_flow_returns_instead_of_an_answer_is_taken_with_the_answer_below() -> None:
    class Noting(LayerStack):
        def shown(self, answer: Any) -> Any:
            return answer["shown"]

        def taken(self, layer: Layer, returned: Any, below: Any) -> Any:
            return {"shown": returned, "by": layer.name, "below": below and below["shown"]}

    async def core(request: str) -> Any:
        return {"shown": request}

    def changing(request: str) -> Flow[Any]:
        return (yield request) + "!"

    def passing(request: str) -> Flow[Any]:
        return (yield request)

    layers = [Layer("passes", flow=passing), Layer("changes", flow=changing)]
    assert await Noting(layers, core, AWAITING).run("x") == {
        "shown": "x!",
        "by": "changes",
        "below": "x",
    }


@pytest.mark.parametrize("flat", [True, False])
async def test_a_layer_that_has_nothing_to_do_with_a_request_is_not_under_way(flat: bool) -> None:
    asked: list[str] = []

    def not_mine(request: str) -> Flow[str] | None:
        asked.append(request)
        return None

    async def core(request: str) -> str:
        return f"({request})"

    layers = [Layer("a", flow=not_mine), Layer("b", flow=partial(passes, "b"))]
    assert await LayerStack(layers, core, AWAITING, flat=flat).run("x") == "b<(xb)>"
    assert asked == ["x"]
