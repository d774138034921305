"""What goes wrong on the wire, and the error each gives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest
from langchain_core.exceptions import ModelError

from interlock.graph.models import OpenAICompatibleChatModel
from interlock.state.errors import ChatModelError
from interlock.state.model_errors import (
    ChatModelAuthenticationError,
    ChatModelConnectionError,
    ChatModelContextOverflowError,
    ChatModelIncompleteError,
    ChatModelMalformedError,
    ChatModelNotFoundError,
    ChatModelPermissionError,
    ChatModelRateLimitError,
    ChatModelRequestError,
    ChatModelServerError,
    ChatModelTimeoutError,
    ChatModelTooLargeError,
)

Net = Any  # the loopback network of conftest.py
Fixture = Callable[..., Any]


@pytest.mark.parametrize(
    ("status", "error", "kind", "retryable"),
    [
        (400, {"message": "bad"}, ChatModelRequestError, False),
        (
            400,
            {"message": "bad", "code": "context_length_exceeded"},
            ChatModelContextOverflowError,
            False,
        ),
        (
            400,
            {"message": "bad", "type": "exceed_context_size_error"},
            ChatModelContextOverflowError,
            False,
        ),
        (
            400,
            {"message": "the maximum context length is 5: bad"},
            ChatModelContextOverflowError,
            False,
        ),
        (401, {"message": "bad"}, ChatModelAuthenticationError, False),
        (402, {"message": "bad"}, ChatModelRateLimitError, False),
        (403, {"message": "bad"}, ChatModelPermissionError, False),
        (404, {"message": "bad"}, ChatModelNotFoundError, False),
        (408, {"message": "bad"}, ChatModelTimeoutError, True),
        (422, {"message": "bad"}, ChatModelRequestError, False),
        (429, {"message": "bad"}, ChatModelRateLimitError, True),
        (429, {"message": "bad", "code": "insufficient_quota"}, ChatModelRateLimitError, False),
        (500, {"message": "bad"}, ChatModelServerError, True),
        (529, {"message": "bad"}, ChatModelServerError, True),
    ],
    ids=lambda given: given.__name__ if isinstance(given, type) else str(given),
)
def test_refusal_keeps_status_words_and_request_id(
    net: Net, status: int, error: dict[str, Any], kind: type[ChatModelError], retryable: bool
) -> None:
    server = net.provider(net.whole({"error": error}, status, x_request_id="req-1"))
    with pytest.raises(kind, match=f"HTTP {status}.*bad.*req-1") as caught:
        net.client(server).invoke("hi")

    assert isinstance(caught.value, ModelError)
    assert caught.value.is_retryable is retryable
    assert (caught.value.status, caught.value.request_id) == (status, "req-1")
    assert "bad" in str(caught.value.provider_message)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html><title>Bad gateway</title></html>", "HTML page titled 'Bad gateway'"),
        (b"", "an empty body"),
        (b"busy", "'busy'"),
        (b'{"message": "busy"}', "busy"),
        (b'{"detail": "busy"}', "busy"),
        (b'{"error": "busy"}', "busy"),
        (b'[{"error": {"message": "busy", "status": "UNAVAILABLE"}}]', "UNAVAILABLE.*busy"),
        (b"\xff\xfe\x00", "."),
    ],
)
def test_refusal_of_any_shape_says_what_came(net: Net, body: bytes, words: str) -> None:
    with pytest.raises(ChatModelServerError, match=words):
        net.client(net.provider(net.whole(body, 502))).invoke("hi")


def test_server_that_is_not_there_is_a_connection_error(ask: Fixture) -> None:
    with pytest.raises(ChatModelConnectionError, match="base_url"):
        ask(OpenAICompatibleChatModel(base_url="http://127.0.0.1:1/v1", model="m", max_retries=0))


def test_server_that_hangs_up_is_a_connection_error(net: Net, ask: Fixture) -> None:
    with pytest.raises(ChatModelConnectionError):
        ask(net.client(net.provider(net.streamed(end="reset"))))


@pytest.mark.parametrize("end", ["close", "cut"])
def test_stream_that_breaks_is_incomplete(net: Net, gather: Fixture, end: str) -> None:
    server = net.provider(net.streamed({"content": "par"}, done=False, end=end))
    with pytest.raises(ChatModelIncompleteError, match="incomplete") as caught:
        gather(net.client(server))

    assert caught.value.is_retryable


def test_whole_answer_that_breaks_is_incomplete(net: Net, ask: Fixture) -> None:
    with pytest.raises(ChatModelIncompleteError, match="connection broke"):
        ask(net.client(net.provider(net.streamed(b'{"choices": [', done=False, end="cut"))))


@pytest.mark.parametrize("events", [(), ({"content": "par"},)], ids=["at once", "later"])
def test_stream_that_stalls_is_a_timeout(net: Net, gather: Fixture, events: Any) -> None:
    server = net.provider(net.streamed(*events, done=False, end="hold"))
    with pytest.raises(ChatModelTimeoutError) as caught:
        gather(net.client(server, timeout=0.05))

    assert caught.value.phase == "read"


def test_time_limit_of_a_call_comes_first(net: Net, ask: Fixture) -> None:
    with pytest.raises(ChatModelTimeoutError, match=r"0\.05 s"):
        ask(
            net.client(net.provider(net.streamed(done=False, end="hold")), timeout=60), timeout=0.05
        )


def test_finished_stream_that_stays_open_is_an_answer(net: Net, gather: Fixture) -> None:
    server = net.provider(net.streamed({"content": "hi"}, "stop", end="hold"))

    assert gather(net.client(server, timeout=60)).content == "hi"


class _Stalled(httpx.SyncByteStream, httpx.AsyncByteStream):
    """An answer that has finished, and then neither an end mark nor an end."""

    block = b'data: {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}\n\n'

    def __iter__(self) -> Iterator[bytes]:
        yield self.block
        raise httpx.ReadTimeout("late")  # noqa: EM101

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.block
        raise httpx.ReadTimeout("late")  # noqa: EM101


def test_finished_stream_without_an_end_mark_is_an_answer(gather: Fixture) -> None:
    headers = {"content-type": "text/event-stream"}
    stalled = httpx.MockTransport(lambda _: httpx.Response(200, headers=headers, stream=_Stalled()))
    model = OpenAICompatibleChatModel(
        base_url="http://host/v1", model="m", transport=stalled, async_transport=stalled
    )

    assert gather(model).content == "hi"


def test_finished_stream_that_breaks_is_an_answer(net: Net, gather: Fixture) -> None:
    server = net.provider(net.streamed({"content": "hi"}, "stop", done=False, end="cut"))

    assert gather(net.client(server)).content == "hi"


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0


def dripping(block: bytes, clock: _Clock, step_s: float) -> httpx.MockTransport:
    def blocks() -> Any:
        while True:
            clock.now += step_s
            yield block

    headers = {"content-type": "text/event-stream"}
    return httpx.MockTransport(lambda _: httpx.Response(200, headers=headers, content=blocks()))


@pytest.mark.parametrize(
    ("block", "phase"),
    [(b": ping\n\n", "stall"), (b'data: {"choices": []}\n\n', "total")],
    ids=["keep-alives", "data"],
)
def test_stream_that_never_ends_is_a_timeout(
    monkeypatch: pytest.MonkeyPatch, block: bytes, phase: str
) -> None:
    clock = _Clock()
    monkeypatch.setattr("time.monotonic", lambda: clock.now)
    model = OpenAICompatibleChatModel(
        base_url="http://host/v1", model="m", transport=dripping(block, clock, 1.0), timeout=3
    )
    with pytest.raises(ChatModelTimeoutError) as caught:
        list(model.stream("hi"))

    assert caught.value.phase == phase


@pytest.mark.parametrize("start", [b"data: ", b": "], ids=["event", "comment"])
def test_line_without_an_end_is_too_large(net: Net, gather: Fixture, start: bytes) -> None:
    server = net.provider(net.streamed(start, *[b"x" * 10_000] * 20))
    with pytest.raises(ChatModelTooLargeError):
        gather(net.client(server, max_event_bytes=100_000))


def test_whole_answer_beyond_the_limit_is_too_large(net: Net, ask: Fixture) -> None:
    with pytest.raises(ChatModelTooLargeError, match="max_answer_bytes"):
        ask(
            net.client(net.provider(net.whole(net.completion("x" * 10_000))), max_answer_bytes=1000)
        )


def test_web_page_instead_of_a_stream_is_malformed(net: Net, gather: Fixture) -> None:
    page = net.whole(b"<html><title>Sign in</title></html>", content_type="text/html")
    with pytest.raises(ChatModelMalformedError, match="Sign in"):
        gather(net.client(net.provider(page)))
