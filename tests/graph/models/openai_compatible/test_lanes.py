from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from typing import Any

import httpx
import pytest

from interlock.graph.models.openai_compatible.connections import Connections
from interlock.graph.models.openai_compatible.lanes import Lanes
from interlock.state.model_errors import ChatModelConnectionError

Net = Any  # the loopback network of conftest.py


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def lanes(limit: int = 9, idle_s: float = 30, clock: Clock | None = None) -> Lanes[str]:
    names: Iterator[str] = map(str, count())
    return Lanes(lambda: next(names), limit=limit, idle_s=idle_s, clock=clock or Clock())


def test_each_request_has_a_lane_to_itself() -> None:
    some = lanes()

    assert [some.take().transport for _ in range(3)] == ["0", "1", "2"]


def test_the_lane_used_last_is_used_next() -> None:
    some = lanes()
    taken = [some.take() for _ in range(3)]
    for lane in (taken[1], taken[2], taken[0]):
        assert some.give(lane) == []

    assert [some.take().transport for _ in range(4)] == ["0", "2", "1", "3"]


def test_beyond_the_limit_lanes_are_shared_in_turn() -> None:
    some = lanes(limit=2)
    taken = [some.take() for _ in range(5)]

    assert [lane.transport for lane in taken] == ["0", "1", "0", "1", "0"]
    assert [lane.users for lane in taken[:2]] == [3, 2]


def test_a_shared_lane_is_free_when_its_last_request_is_done() -> None:
    some = lanes(limit=1)
    lane = some.take()
    some.take()

    some.give(lane)
    assert lane.users == 1
    some.give(lane)
    assert (some.take() is lane, lane.users) == (True, 1)


def test_lanes_that_nobody_needs_are_given_up() -> None:
    clock = Clock()
    some = lanes(idle_s=30, clock=clock)
    first, second, third = (some.take() for _ in range(3))
    some.give(first)
    clock.now = 10
    some.give(second)
    clock.now = 31

    assert some.give(third) == ["0"]
    assert [some.take().transport for _ in range(3)] == ["2", "1", "3"]


def test_clearing_gives_up_free_lanes_and_those_in_use() -> None:
    some = lanes()
    used, free = some.take(), some.take()
    some.give(free)

    assert some.clear() == ["0", "1"]
    assert some.give(used) == ["0"], "its transport may have connected again"
    assert some.take().transport == "2"


def test_threads_never_share_a_lane_below_the_limit() -> None:
    some, busy, lock = lanes(limit=64), set[str](), threading.Lock()

    def work(_: int) -> None:
        lane = some.take()
        with lock:
            assert lane.transport not in busy
            busy.add(lane.transport)
        with lock:
            busy.discard(lane.transport)
        some.give(lane)

    with ThreadPoolExecutor(16) as pool:
        assert len(list(pool.map(work, range(500)))) == 500
    assert len(some.clear()) <= 16


async def test_requests_side_by_side_have_a_connection_each_and_keep_it(net: Net) -> None:
    server = net.provider(net.whole(net.completion()))
    model = net.client(server)
    for _ in range(3):
        await asyncio.gather(*(model.ainvoke("hi") for _ in range(20)))

    assert server.connections <= 20
    await model.aclose()
    await asyncio.to_thread(server.waits_until_open, 0)


def test_threads_side_by_side_begin_one_set_of_connections(net: Net) -> None:
    server = net.provider(net.whole(net.completion()))
    model = net.client(server)
    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(model.invoke, ["hi"] * 40))) == 40

    assert server.connections <= 8
    model.close()
    server.waits_until_open(0)


async def test_a_lane_whose_request_fails_is_used_again(net: Net) -> None:
    broken = replace(net.whole(net.completion()), end="reset")
    model = net.client(net.provider(broken, net.whole(net.completion())), max_retries=0)
    with pytest.raises(ChatModelConnectionError):
        await model.ainvoke("hi")

    assert (await model.ainvoke("hi")).content == "hello"


async def test_a_given_transport_serves_all_and_stays_open() -> None:
    class Mine(httpx.AsyncBaseTransport):
        closed = False

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, request=request)

        async def aclose(self) -> None:
            self.closed = True

    mine = Mine()
    connections = Connections(async_transport=mine)
    port = await connections.awaiting()
    request = httpx.Request("GET", "http://host/")
    answers = [await port.send(request) for _ in range(3)]
    for answer in answers:
        await port.close(answer)
        await port.close(answer)
    await connections.aclose()

    assert [answer.status_code for answer in answers] == [200] * 3
    assert not mine.closed
