"""Models for extraction tests, and one way to run a job whatever the calling style."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from interlock.graph import aextract, extract
from interlock.graph.extraction import Extraction, Totals


class Reader(BaseChatModel):
    """Answers each text by a function, and counts how often it was asked about each."""

    answer: Callable[[str], Any]
    _asked: Counter[str] = PrivateAttr(default_factory=Counter[str])
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    @property
    def asked(self) -> Counter[str]:
        """Requests by text."""
        return self._asked

    @property
    def _llm_type(self) -> str:
        return "reader"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Bind them, unseen."""
        return self.bind(tools=tools, **kwargs)

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        text = next(m.text for m in messages if m.type == "human")
        with self._lock:
            self._asked[text] += 1
        answer = self.answer(text)
        if isinstance(answer, Exception):
            raise answer
        if not isinstance(answer, AIMessage):
            usage: Any = {"input_tokens": 2, "output_tokens": 1, "total_tokens": 3}
            answer = AIMessage(str(answer), usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=answer)])


@pytest.fixture
def reader() -> Callable[[Callable[[str], Any]], Reader]:
    """``reader(f)``: a model that answers the text ``t`` with ``f(t)``."""

    def make(answer: Callable[[str], Any]) -> Reader:
        return Reader(answer=answer)

    return make


@pytest.fixture(params=["extract", "aextract"])
def extracted(
    request: pytest.FixtureRequest,
) -> Callable[..., tuple[list[Extraction[Any]], Totals]]:
    """Run a job to its end, in both calling styles: its results and its totals."""

    def run(
        model: Any, schema: Any, inputs: Iterable[Any], **settings: Any
    ) -> tuple[list[Extraction[Any]], Totals]:
        if request.param == "extract":
            results = extract(model, schema, inputs, **settings)
            return list(results), results.totals
        return asyncio.run(_collected(model, schema, inputs, settings))

    return run


async def _collected(
    model: Any, schema: Any, inputs: Iterable[Any], settings: dict[str, Any]
) -> tuple[list[Extraction[Any]], Totals]:
    results = aextract(model, schema, inputs, **settings)
    return [result async for result in results], results.totals


class FaultyServer:
    """A provider on loopback that answers by tool calls and sometimes fails, reproducibly.

    Of its answers 10 % are invalid JSON, 5 % are refusals with status 429, 2 % are dropped
    connections and 1 % are cut off.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        """The text of each request."""
        self._random = Random(7)  # noqa: S311 - faults, not secrets
        self._open: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def _start(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                body = json.loads(await reader.readexactly(length))
                text = next(m["content"] for m in body["messages"] if m["role"] == "user")
                self.asked.append(text)
                await asyncio.sleep(0.002)
                answer = self._answer(text)
                if answer is None:
                    break
                writer.write(answer)
                await writer.drain()
        writer.close()
        self._open.discard(writer)

    def _answer(self, text: str) -> bytes | None:
        luck = self._random.random()
        if luck < 0.02:
            return None
        if luck < 0.07:
            return _http(429, {"error": {"message": "slow down"}}, "retry-after: 0\r\n")
        arguments = "{" if luck < 0.17 else json.dumps({"n": int(text.rpartition(" ")[2])})
        call = {"name": "Number", "arguments": arguments}
        calls = [{"id": "c", "type": "function", "function": call}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        finish = "length" if 0.17 <= luck < 0.18 else "tool_calls"
        usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return _http(200, {"id": "1", "model": "m", "choices": [choice], "usage": usage})

    def stop(self) -> None:
        """Close all connections."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in self._open:
            writer.transport.abort()
        # The loop closes a socket in a call of its own.
        await asyncio.sleep(0.01)


def _http(status: int, body: Any, headers: str = "") -> bytes:
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} x\r\ncontent-type: application/json\r\n{headers}"
    return f"{head}content-length: {len(data)}\r\n\r\n".encode() + data


@pytest.fixture
def faulty_server() -> Iterator[FaultyServer]:
    """A provider that sometimes fails."""
    server = FaultyServer()
    yield server
    server.stop()
