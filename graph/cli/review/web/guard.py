"""Which requests may reach the page: those of the person who started it, and of nobody else.

A page on loopback can be reached by every program of the machine and, through a browser, by every
site that is open in it. So a request must name this server, carry the key of this start, and, if
it changes something, come from the page itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any, Literal

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Nothing but the page's own files runs or loads, and no text can become markup."""

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}

Refusal = Literal["host", "key", "site", "method", "origin", "form", "csrf"]

_TOLD: dict[Refusal, tuple[int, str]] = {
    "host": (400, "This server answers to its own address only."),
    "key": (401, "Open the address that the command printed; it has the key of this start."),
    "site": (403, "The request comes from another site."),
    "method": (405, "This is not how it is asked for."),
    "origin": (403, "The request comes from another site."),
    "form": (415, "Send JSON."),
    "csrf": (403, "The page is out of date; load it again."),
}


@dataclass(frozen=True)
class Secrets:
    """What a request must know; made anew at each start."""

    key: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """In the address that is printed, and then in a cookie that no script can read."""
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """In the page, and in a header of each answer."""


class Guard:
    """Lets requests of the page through, and puts the protective headers on every response."""

    def __init__(self, app: ASGIApp, port: int, own: Secrets) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._own = own
        self._cookie = f"interlock_review_{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it before anything looks at it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self.refusal(scope)
        app = self._app if refusal is None else _refused(scope, refusal)
        await app(scope, receive, self._with_headers(scope, send))

    def refusal(self, scope: Scope) -> Refusal | None:
        """Why a request may not go on, or None if it may."""
        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return "host"
        if not (self._has_cookie(headers) or self._has_key(scope)):
            return "key"
        if headers.get("sec-fetch-site") == "cross-site" and scope["path"] != "/":
            return "site"
        if scope["method"] in ("GET", "HEAD"):
            return None
        if scope["method"] != "POST":
            return "method"
        if headers.get("origin") != f"http://{headers['host']}":
            return "origin"
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return "form"
        if not secrets.compare_digest(_bytes(headers.get("x-csrf-token")), _bytes(self._own.csrf)):
            return "csrf"
        return None

    def _has_key(self, scope: Scope) -> bool:
        """Whether the address has the key: it opens the page, and nothing else."""
        given = QueryParams(scope["query_string"]).get("key")
        opens = scope["path"] == "/" and scope["method"] == "GET"
        return opens and secrets.compare_digest(_bytes(given), _bytes(self._own.key))

    def _has_cookie(self, headers: Headers) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return False
        given = found.value if found is not None else None
        return secrets.compare_digest(_bytes(given), _bytes(self._own.key))

    def _with_headers(self, scope: Scope, send: Send) -> Callable[[Message], Any]:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if self._has_key(scope):
                    cookie = f"{self._cookie}={self._own.key}; Path=/; HttpOnly; SameSite=Strict"
                    headers.append("set-cookie", cookie)
            await send(message)

        return sending


def _refused(scope: Scope, refusal: Refusal) -> ASGIApp:
    status, text = _TOLD[refusal]
    if str(scope["path"]).startswith("/api/"):
        return JSONResponse({"error": text}, status)
    return PlainTextResponse(text, status)


def _bytes(text: str | None) -> bytes:
    return (text or "").encode("utf-8", "replace")
