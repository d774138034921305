from __future__ import annotations

from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import httpx
import pytest

from interlock.graph.models import OpenAICompatibleChatModel
from interlock.graph.models.openai_compatible.retry import wait_s
from interlock.middleware.asked_wait import wait_in_headers
from interlock.state.errors import ChatModelError
from interlock.state.model_errors import ChatModelRateLimitError

Net = Any  # the loopback network of conftest.py
Fixture = Callable[..., Any]
BODY = {"choices": [{"message": {"content": "now"}}]}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Note the waits between attempts instead of waiting."""
    noted: list[float] = []
    monkeypatch.setattr("time.sleep", noted.append)
    return noted


def model(*answers: httpx.Response | httpx.TransportError, **settings: Any) -> Any:
    left = list(answers)

    def answer(_: httpx.Request) -> httpx.Response:
        found = left.pop(0)
        if isinstance(found, httpx.TransportError):
            raise found
        return found

    transport = httpx.MockTransport(answer)
    return OpenAICompatibleChatModel(
        base_url="http://host/v1", model="m", transport=transport, **settings
    )


@pytest.mark.parametrize(
    "failure",
    [
        *[httpx.Response(status) for status in (408, 409, 429, 500, 502, 503, 529)],
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("late"),
        httpx.RemoteProtocolError("hung up"),
    ],
    ids=lambda f: str(f.status_code) if isinstance(f, httpx.Response) else type(f).__name__,
)
def test_passing_failure_is_tried_again(failure: Any, waits: list[float]) -> None:
    assert model(failure, httpx.Response(200, json=BODY)).invoke("hi").content == "now"
    assert len(waits) == 1


@pytest.mark.parametrize(
    "failure",
    [
        *[httpx.Response(status) for status in (400, 401, 403, 404, 413, 422)],
        httpx.Response(429, json={"error": {"code": "insufficient_quota"}}),
        httpx.Response(200, json={"error": {"message": "busy", "code": 503}}),
        httpx.Response(200, json={}),
        httpx.ReadTimeout("late"),
    ],
    ids=[
        "400",
        "401",
        "403",
        "404",
        "413",
        "422",
        "quota",
        "in the answer",
        "empty",
        "ReadTimeout",
    ],
)
def test_lasting_failure_is_not_tried_again(failure: Any, waits: list[float]) -> None:
    with pytest.raises(ChatModelError):
        model(failure).invoke("hi")

    assert waits == []


def test_last_failure_is_raised_after_all_retries(waits: list[float]) -> None:
    with pytest.raises(ChatModelError, match="HTTP 503"):
        model(*[httpx.Response(500)] * 2, httpx.Response(503), max_retries=2).invoke("hi")

    assert len(waits) == 2
    assert waits[0] < waits[1] * 2


def test_answer_that_began_is_not_asked_for_again(net: Net, gather: Fixture) -> None:
    server = net.provider(net.streamed({"content": "par"}, done=False, end="cut"))
    with pytest.raises(ChatModelError):
        gather(net.client(server, max_retries=2))

    assert len(server.seen) == 1


def test_retry_works_in_both_styles(net: Net, ask: Fixture) -> None:
    server = net.provider(
        net.whole({}, 429, retry_after="0.01"), net.whole({}, 503, retry_after="0"), net.whole(BODY)
    )

    assert ask(net.client(server, max_retries=2)).content == "now"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": formatdate(0, usegmt=True)}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
    ids=str,
)
def test_wish_of_the_provider_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_in_headers(httpx.Headers(headers)) == seconds


def test_date_to_come_means_the_seconds_until_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_000_000.0)
    headers = httpx.Headers({"retry-after": formatdate(1_000_030, usegmt=True)})

    assert wait_in_headers(headers) == 30.0


def test_wait_is_what_the_provider_asks_or_grows_by_itself() -> None:
    asked = ChatModelRateLimitError("busy", retry_after_s=2.0)

    assert 2.0 <= wait_s(asked, 1) <= 2.2
    assert wait_s(ChatModelRateLimitError("busy", retry_after_s=0.0), 1) == 0.0
    assert 0.25 <= wait_s(ChatModelError("x"), 1) <= 0.5
    assert 4.0 <= wait_s(ChatModelError("x"), 10) <= 8.0


def test_wait_beyond_the_ceiling_ends_the_call(waits: list[float]) -> None:
    busy = httpx.Response(429, headers={"retry-after": "99999999"})
    with pytest.raises(ChatModelRateLimitError, match=r"wait 1e\+08 s; the limit is 60 s"):
        model(busy).invoke("hi")

    assert waits == []


def test_wait_beyond_the_total_time_ends_the_call(waits: list[float]) -> None:
    busy = httpx.Response(429, headers={"retry-after": "30"})
    with pytest.raises(ChatModelRateLimitError):
        model(busy, total_timeout=10).invoke("hi")

    assert waits == []
