"""One request and its answer: attempts, limits, time, and the end of the connection."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Final

import httpx
from langchain_core.messages import message_chunk_to_message
from langchain_core.outputs import ChatGeneration

from ....state.errors import ChatModelError
from ....state.model_errors import (
    ChatModelIncompleteError,
    ChatModelTimeoutError,
    ChatModelTooLargeError,
)
from .answer import read_body
from .chunk import AnswerChunk
from .excerpt import excerpt
from .failures import from_status, from_transport, malformed
from .hidden import Hidden
from .origin import Origin
from .ports import Port
from .retry import RetryPolicy
from .sse import Event, EventReader
from .stream import StreamAssembler

_MAX_ERROR_BYTES: Final = 65_536
_STALL_FACTOR: Final = 5
_EVENT_STREAM: Final = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how large one answer may be."""

    timeout_s: float
    """Longest wait for the connection and for the next bytes."""
    total_timeout_s: float
    """Longest time for the whole call, waits between attempts included."""
    max_event_bytes: int
    """Longest event of a stream."""
    max_answer_bytes: int
    """Longest answer, streamed or whole."""


@dataclass(slots=True)
class _Opened:
    """An answer that began well: its first block is read."""

    response: httpx.Response
    first: bytes
    blocks: AsyncIterator[bytes]
    origin: Origin


class Exchange:
    """Sends one request and reads its answer.

    Args:
        port: Blocking or awaiting, it is the same here.
        limits: Time and size.
        retries: When to try again.
        provider: Name of the provider, for metadata.
        hidden: Words that no error may show.
    """

    def __init__(
        self,
        port: Port,
        *,
        limits: Limits,
        retries: RetryPolicy,
        provider: str,
        hidden: Hidden,
    ) -> None:
        self._port = port
        self._limits = limits
        self._retries = retries
        self._provider = provider
        self._hidden = hidden
        self._ends_at = time.monotonic() + limits.total_timeout_s

    async def whole(self, request: httpx.Request) -> list[ChatGeneration]:
        """Return the generations of an answer that comes in one piece.

        Args:
            request: The request, without ``stream``.

        Raises:
            ChatModelError: Anything that kept the answer from being complete and valid.
        """
        opened = await self._open(request)
        try:
            if _EVENT_STREAM in opened.response.headers.get("content-type", ""):
                return [await self._summed(opened)]
            return read_body(await self._body(opened), opened.origin)
        finally:
            await self._port.close(opened.response)

    async def chunks(self, request: httpx.Request) -> AsyncGenerator[AnswerChunk, None]:
        """Yield the message chunks of a streamed answer; the last one has ``chunk_position``.

        Args:
            request: The request, with ``stream``.

        Raises:
            ChatModelError: Anything that kept the answer from being complete and valid.
        """
        opened = await self._open(request)
        try:
            content_type = opened.response.headers.get("content-type", "")
            if "json" in content_type:
                # The server knows no streaming, or reports an error.
                (generation, *_) = read_body(await self._body(opened), opened.origin)
                yield _as_last_chunk(generation)
                return
            if "html" in content_type:
                yield _as_last_chunk(read_body(await self._body(opened), opened.origin)[0])
                return
            async for chunk in self._stream(opened):
                yield chunk
        finally:
            await self._port.close(opened.response)

    async def _stream(self, opened: _Opened) -> AsyncGenerator[AnswerChunk, None]:
        assembler = StreamAssembler(opened.origin)
        try:
            async for event, closing in self._events(opened):
                chunk = assembler.add(event, closing=closing)
                if chunk is not None:
                    yield chunk
                if assembler.done:
                    break
        except (ChatModelTimeoutError, ChatModelIncompleteError):
            # Only the token counts or the end mark are missing once the answer has finished.
            if not assembler.finished:
                raise
        yield assembler.finish()
        if assembler.done:
            await self._port.drain(opened.response, opened.blocks)

    async def _events(self, opened: _Opened) -> AsyncGenerator[tuple[Event, bool], None]:
        """Yield the events, each with whether the end of the stream completed it."""
        reader = EventReader(
            max_event_bytes=self._limits.max_event_bytes,
            max_total_bytes=self._limits.max_answer_bytes,
        )
        stall_s = self._limits.timeout_s * _STALL_FACTOR
        last_event_at = time.monotonic()
        async for block in self._all_blocks(opened):
            events = reader.feed(block)
            if events:
                last_event_at = time.monotonic()
            elif time.monotonic() - last_event_at > stall_s:
                raise _too_late(stall_s, "stall", "only keep-alives")
            for event in events:
                yield event, False
        for event in reader.close():
            yield event, True

    async def _summed(self, opened: _Opened) -> ChatGeneration:
        """Read a stream that came although none was asked for."""
        pieces = [chunk async for chunk in self._stream(opened)]
        first, *others = pieces
        return ChatGeneration(message=message_chunk_to_message(first + others))

    async def _body(self, opened: _Opened) -> bytes:
        parts: list[bytes] = []
        size = 0
        async for block in self._all_blocks(opened):
            parts.append(block)
            size += len(block)
            if size > self._limits.max_answer_bytes:
                msg = (
                    f"The provider's answer is too large: more than "
                    f"{self._limits.max_answer_bytes} bytes. Raise max_answer_bytes if that is "
                    "expected."
                )
                raise ChatModelTooLargeError(
                    msg,
                    status=opened.origin.status,
                )
        return b"".join(parts)

    async def _all_blocks(self, opened: _Opened) -> AsyncGenerator[bytes, None]:
        """Yield all blocks; what breaks now, after the first byte, is an incomplete answer."""
        yield opened.first
        try:
            async for block in opened.blocks:
                if time.monotonic() > self._ends_at:
                    raise _too_late(self._limits.total_timeout_s, "total", "not the whole answer")
                yield block
        except httpx.TimeoutException:
            raise _too_late(self._limits.timeout_s, "read", "nothing more") from None
        except (httpx.HTTPError, httpx.StreamError) as exc:
            detail = excerpt(str(exc)) or type(exc).__name__
            msg = (
                f"The provider's answer is incomplete: the connection broke ({detail}). "
                "Nothing of it was used; make the request again."
            )
            raise ChatModelIncompleteError(
                msg,
                status=opened.origin.status,
                request_id=opened.origin.request_id,
            ) from None

    async def _open(self, request: httpx.Request) -> _Opened:
        async def attempt() -> _Opened:
            return await self._attempt(request)

        return await self._retries.run(attempt, self._port, self._left_s)

    async def _attempt(self, request: httpx.Request) -> _Opened:
        timeout_s = max(0.001, min(self._limits.timeout_s, self._left_s()))
        request.extensions["timeout"] = dict.fromkeys(
            ("connect", "read", "write", "pool"), timeout_s
        )
        try:
            response = await self._port.send(request)
        except httpx.HTTPError as exc:
            raise from_transport(exc, timeout_s=timeout_s) from None
        try:
            return await self._begin(response, timeout_s)
        except BaseException:
            await self._port.close(response)
            raise

    async def _begin(self, response: httpx.Response, timeout_s: float) -> _Opened:
        blocks = self._port.blocks(response)
        try:
            if not response.is_success:
                raise await self._refusal(response, blocks)
            first = await anext(blocks, b"")
        except httpx.DecodingError as exc:
            msg = f"a body that cannot be decoded: {excerpt(str(exc), 120)}"
            raise malformed(msg, self._origin(response)) from None
        except (httpx.HTTPError, httpx.StreamError) as exc:
            raise from_transport(exc, timeout_s=timeout_s) from None
        return _Opened(response, first, blocks, self._origin(response))

    def _origin(self, response: httpx.Response) -> Origin:
        return Origin(self._provider, response.status_code, response.headers, self._hidden)

    async def _refusal(
        self, response: httpx.Response, blocks: AsyncIterator[bytes]
    ) -> ChatModelError:
        body = b""
        try:
            async for block in blocks:
                body += block
                if len(body) >= _MAX_ERROR_BYTES:
                    break
        except (httpx.HTTPError, httpx.StreamError):
            body = body or b"(the body never came)"
        return from_status(body[:_MAX_ERROR_BYTES], self._origin(response))

    def _left_s(self) -> float:
        return self._ends_at - time.monotonic()


def _too_late(limit_s: float, phase: str, what: str) -> ChatModelTimeoutError:
    setting = "total_timeout" if phase == "total" else "timeout"
    return ChatModelTimeoutError(
        f"The provider's answer timed out ({phase}): {what} within {limit_s:g} s. "
        f"Raise {setting}, or make the request again.",
        phase=phase,
    )


def _as_last_chunk(generation: ChatGeneration) -> AnswerChunk:
    fields = dict(generation.message)
    del fields["type"]
    return AnswerChunk(**fields, chunk_position="last")
