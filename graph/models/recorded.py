"""Record and replay: a chat model that talks to its provider once and to a file ever after."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Literal

import httpx

from ...state.errors import ConfigurationError
from ...tools.calls import run_inline
from .cassette import Answer, Cassette
from .openai_compatible import OpenAICompatibleChatModel
from .openai_compatible.connections import Connections
from .openai_compatible.ports import Port

Mode = Literal["auto", "record", "replay"]


def recorded(
    model: OpenAICompatibleChatModel, path: str | Path, *, mode: Mode = "auto"
) -> OpenAICompatibleChatModel:
    """Return the model with its answers kept in a file.

    The first run records; later runs replay, without the network and with any key. Keys and headers
    are never written. A request that was not recorded is refused.

    Args:
        model: The chat model.
        path: The file, JSON.
        mode: ``auto`` replays when the file exists and records when it does not; ``record``
            starts the file anew; ``replay`` never talks to the provider.

    Raises:
        ConfigurationError: The model cannot be recorded, the mode is unknown, the file is no
            cassette, or it is missing in ``replay``.
    """
    if not isinstance(model, OpenAICompatibleChatModel):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers pass other models too
        msg = (
            f"{type(model).__name__!r} cannot be recorded. Pass an OpenAICompatibleChatModel, "
            "before tools are bound to it."
        )
        raise ConfigurationError(msg)
    if mode not in ("auto", "record", "replay"):
        msg = f"mode is {mode!r}. Use 'auto', 'record' or 'replay'."
        raise ConfigurationError(msg)
    file = Path(path)
    if mode == "replay" and not file.exists():
        msg = f"{str(file)!r} does not exist, so nothing can be replayed. Record it first."
        raise ConfigurationError(msg)
    if mode == "record":
        file.unlink(missing_ok=True)
    cassette = Cassette(file, model.hidden)
    if file.exists():
        return model.model_copy(
            update={"transport": _Replay(cassette), "async_transport": _Replay(cassette)}
        )
    return model.model_copy(
        update={
            "transport": _Recorder(cassette, model.connections),
            "async_transport": _Recorder(cassette, model.connections),
        }
    )


class _Replay(httpx.BaseTransport, httpx.AsyncBaseTransport):
    def __init__(self, cassette: Cassette) -> None:
        self._cassette = cassette

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._cassette.replay(request)
        return httpx.Response(
            answer.status, headers=answer.headers, stream=_Blocks(list(answer.blocks))
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.handle_request(request)


class _Blocks(httpx.SyncByteStream, httpx.AsyncByteStream):
    def __init__(self, blocks: list[bytes]) -> None:
        self._blocks = blocks

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._blocks)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for block in self._blocks:
            yield block


class _Recorder(httpx.BaseTransport, httpx.AsyncBaseTransport):
    def __init__(self, cassette: Cassette, connections: Connections) -> None:
        self._cassette = cassette
        self._connections = connections

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        port = self._connections.blocking()
        response = run_inline(port.send(request), "the chat model")
        return _Tape(self._cassette, request, response, port).played()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        port = await self._connections.awaiting()
        response = await port.send(request)
        return _Tape(self._cassette, request, response, port).played()


class _Tape(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The body of an answer, which keeps what passes and records it when it is closed."""

    def __init__(
        self, cassette: Cassette, request: httpx.Request, source: httpx.Response, port: Port
    ) -> None:
        self._cassette = cassette
        self._request = request
        self._source = source
        self._port = port
        self._heard: list[bytes] = []
        self._recorded = False

    def played(self) -> httpx.Response:
        # Recorded decoded, so the file is readable whatever the encoding was.
        encoding = ("content-encoding", "content-length", "transfer-encoding")
        headers = [(k, v) for k, v in self._source.headers.items() if k not in encoding]
        return httpx.Response(self._source.status_code, headers=headers, stream=self)

    def __iter__(self) -> Iterator[bytes]:
        return map(self._keep, self._source.iter_bytes())

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for block in self._source.aiter_bytes():
            yield self._keep(block)

    def _keep(self, block: bytes) -> bytes:
        self._heard.append(block)
        return block

    def close(self) -> None:
        run_inline(self._port.close(self._source), "the chat model")
        self._record()

    async def aclose(self) -> None:
        await self._port.close(self._source)
        self._record()

    def _record(self) -> None:
        if self._recorded:
            return
        self._recorded = True
        headers = dict(self._source.headers.items())
        self._cassette.record(self._request, Answer(self._source.status_code, headers, self._heard))
