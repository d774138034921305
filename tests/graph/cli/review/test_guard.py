"""Which requests reach the page, and what they may do."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

Office = Any
Page = Any
Serve = Callable[[Any], Page]
APPROVE = {"type": "approve"}


@dataclass(frozen=True)
class Place:
    """A page with one call that waits, and a correct answer to it."""

    office: Office
    page: Page
    answers: dict[str, Any]

    @classmethod
    def of(cls, office: Office, serve: Serve) -> Place:
        office.begin("t", ("send", {"to": "Ann"}))
        (thread,) = office.desk().waiting()
        return cls(office, serve(office.desk()), {p.full_id: APPROVE for p in thread.approvals})


@pytest.fixture(scope="module")
def place(new_office: Callable[[], Office], serve: Serve) -> Place:
    """A page that no test of this file gives an answer to."""
    return Place.of(new_office(), serve)


@pytest.fixture
def page(place: Place) -> Page:
    return place.page


def test_answer_of_the_page_is_accepted(office: Office, serve: Serve) -> None:
    own = Place.of(office, serve)
    told = own.page.answer("t", own.answers)
    assert (told.status_code, told.json()) == (200, {"waits": False, "failure": None})
    assert office.did == ["1 letter to Ann"]


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"x_csrf_token": None}, 403),
        ({"x_csrf_token": "wrong"}, 403),
        ({"origin": None}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": "application/x-www-form-urlencoded"}, 415),
        ({"host": "evil.example"}, 400),
        ({"host": "127.0.0.1"}, 400),
        ({"cookie": "interlock_review_0=x"}, 401),
    ],
    ids=str,
)
def test_forged_answer_is_refused_and_nothing_runs(
    place: Place, changed: dict[str, Any], status: int
) -> None:
    assert place.page.answer("t", place.answers, **changed).status_code == status
    assert place.office.did == []
    assert len(place.office.desk().waiting()) == 1


@pytest.mark.parametrize("path", ["/", "/page.js", "/api/waiting", "/api/thread?id=t"])
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost", ""])
def test_other_names_for_this_machine_are_refused(page: Page, path: str, host: str) -> None:
    given = f"{host}:{page.port}" if "evil" in host else host
    assert page.get(path, headers={"host": given}).status_code == 400


@pytest.mark.parametrize("path", ["/", "/page.js", "/api/waiting", "/api/thread?id=t"])
def test_without_the_key_nothing_is_shown(page: Page, path: str) -> None:
    for address in (path, f"{path}{'&' if '?' in path else '?'}key=wrong"):
        told = page.http.get(f"{page.origin}{address}")
        assert told.status_code == 401
        assert "Ann" not in told.text


def test_key_in_the_address_opens_the_page_and_becomes_a_cookie(page: Page) -> None:
    told = page.http.get(page.address)
    page.http.cookies.clear()
    assert (told.status_code, page.csrf in told.text, page.key in told.text) == (200, True, False)
    cookie = told.headers["set-cookie"]
    assert all(word in cookie for word in (page.key, "HttpOnly", "SameSite=Strict"))


def test_key_in_the_address_opens_nothing_else(place: Place) -> None:
    page = place.page
    told = page.http.post(
        f"{page.origin}/api/answer?key={page.key}",
        json={"thread": "t", "answers": place.answers},
        headers=page.headers,
    )
    assert told.status_code == 401


@pytest.mark.parametrize("path", ["/", "/page.css", "/api/waiting", "/nothing", "/api/answer"])
def test_every_response_forbids_what_the_page_does_not_need(page: Page, path: str) -> None:
    headers = page.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(page: Page, method: str) -> None:
    assert page.request(method, "/api/answer", headers=page.headers).status_code == 405


@pytest.mark.parametrize("name", ["..%2fguard.py", "guard.py", "page.html", "%2e%2e/app.py"])
def test_no_other_file_is_served(page: Page, name: str) -> None:
    assert page.get(f"/{name}").status_code == 404


def test_only_this_machine_is_served(page: Page) -> None:
    others = {str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None)}
    for address in others - {"127.0.0.1", "::1"}:
        with pytest.raises(OSError, match=r"refused|unreach"):
            socket.create_connection((address, page.port), timeout=2)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"thread": "t"}',
        b'{"thread": "t", "answers": {}}',
        b'{"thread": 1, "answers": {"a": 1}}',
        b'{"thread": "\\ud800", "answers": {"a": 1}}',
        b"[" * 100_000,
        b'{"thread": "t", "answers": {"a": "' + b"x" * 1_000_001 + b'"}}',
        b"\xff\xfe",
    ],
    ids=lambda body: repr(body[:30]),
)
def test_malformed_answer_is_refused_in_words(page: Page, body: bytes) -> None:
    told = page.request("POST", "/api/answer", content=body, headers=page.headers)
    assert told.status_code == 422
    assert json.loads(told.content)["error"]
