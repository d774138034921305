"""Connections are kept for the next call, and closed when nobody waits for them."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import httpx
import pytest

from interlock.graph.models import OpenAICompatibleChatModel

Net = Any  # the loopback network of conftest.py


@pytest.mark.parametrize("stream", [False, True])
def test_blocking_calls_share_a_connection(net: Net, stream: bool) -> None:
    answer = net.streamed({"content": "hi"}, "stop") if stream else net.whole(net.completion())
    server = net.provider(answer)
    model = net.client(server)
    for _ in range(3):
        _ = list(model.stream("hi")) if stream else model.invoke("hi")

    assert server.connections == 1


@pytest.mark.parametrize("stream", [False, True])
async def test_awaited_calls_share_a_connection(net: Net, stream: bool) -> None:
    answer = net.streamed({"content": "hi"}, "stop") if stream else net.whole(net.completion())
    server = net.provider(answer)
    model = net.client(server)
    for _ in range(3):
        _ = [c async for c in model.astream("hi")] if stream else await model.ainvoke("hi")

    assert server.connections == 1


def test_each_event_loop_has_connections_of_its_own(net: Net) -> None:
    server = net.provider(net.whole(net.completion()))
    model = net.client(server)
    for _ in range(2):
        assert asyncio.run(model.ainvoke("hi")).content == "hello"

    server.waits_until_open(0)
    assert server.connections == 2


def test_blocking_call_works_inside_a_running_loop(net: Net) -> None:
    model = net.client(net.provider(net.whole(net.completion())))

    async def inside() -> str:
        return str(model.invoke("hi").content)

    assert asyncio.run(inside()) == "hello"


def test_connections_close_with_their_model(net: Net) -> None:
    server = net.provider(net.whole(net.completion()))
    model = OpenAICompatibleChatModel(model="m", base_url=server.url)
    model.invoke("hi")
    server.waits_until_open(1)
    del model
    gc.collect()

    server.waits_until_open(0)


async def test_connections_close_on_request(net: Net) -> None:
    server = net.provider(net.whole(net.completion()))
    model = net.client(server)
    await model.ainvoke("hi")
    model.invoke("hi")
    await model.connections.aclose()

    server.waits_until_open(0)
    assert (await model.ainvoke("hi")).content == "hello"


def test_stream_that_is_left_closes_its_connection(net: Net) -> None:
    server = net.provider(net.streamed({"content": "a"}, done=False, end="hold"))
    pieces = net.client(server).stream("hi")
    next(pieces)
    pieces.close()

    server.waits_until_open(0)


async def test_call_that_is_cancelled_closes_its_connection(net: Net) -> None:
    server = net.provider(net.streamed(done=False, end="hold"))
    task = asyncio.create_task(net.client(server, timeout=60).ainvoke("hi"))
    await asyncio.to_thread(server.streaming.acquire)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await asyncio.to_thread(server.waits_until_open, 0)


async def test_cancelled_streams_close_and_the_others_go_on(net: Net) -> None:
    server = net.provider(net.streamed({"content": "a"}, done=False, end="hold"))
    model = net.client(server, timeout=60)
    started = asyncio.Semaphore(0)

    async def read() -> None:
        async for _ in model.astream("hi"):
            started.release()

    tasks = [asyncio.create_task(read()) for _ in range(100)]
    for _ in tasks:
        await started.acquire()
    for task in tasks[:40]:
        task.cancel()
    await asyncio.gather(*tasks[:40], return_exceptions=True)

    await asyncio.to_thread(server.waits_until_open, 60)
    for task in tasks[40:]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.to_thread(server.waits_until_open, 0)


async def test_many_streams_at_once_hold_no_piece_back() -> None:
    streams, pieces = 50, 6
    read_by_all = [asyncio.Event() for _ in range(pieces)]
    together = asyncio.Barrier(streams)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        for was_read in read_by_all:
            writer.write(b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n')
            await was_read.wait()  # nothing follows before every stream has this piece
        writer.write(b"data: [DONE]\n\n")
        writer.close()

    async def read() -> int:
        seen = 0
        async for piece in model.astream("hi"):
            if piece.text:
                await together.wait()
                read_by_all[seen].set()
                seen += 1
        return seen

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=streams)
    port = server.sockets[0].getsockname()[1]
    model = OpenAICompatibleChatModel(model="m", base_url=f"http://127.0.0.1:{port}/v1")
    async with asyncio.timeout(20):
        assert await asyncio.gather(*[read() for _ in range(streams)]) == [pieces] * streams
    server.close()
    await model.aclose()


def test_transport_can_be_replaced() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"choices": [{"message": {"content": "mine"}}]})

    mine = httpx.MockTransport(answer)
    model = OpenAICompatibleChatModel(
        model="m", base_url="http://host/v1", transport=mine, async_transport=mine
    )

    assert model.invoke("hi").content == "mine"
    assert asyncio.run(model.ainvoke("hi")).content == "mine"
