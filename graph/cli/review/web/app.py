"""What the page can ask for: what waits, one thread, and to answer."""

from __future__ import annotations

import html
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, cast

from anyio import to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .....state.approval_errors import NotWaitingError
from .....state.errors import ConfigurationError, InterlockError, InvalidInputError
from ..desk import Desk
from ..sheet import line_of, sheet_of
from .guard import Guard, Secrets

MOST_BYTES = 1_000_000
"""Of an answer."""

_FOLDER = Path(__file__).parent
_SCRIPT = "text/javascript"
_FILES = {
    "page.css": "text/css",
    "icon.svg": "image/svg+xml",
    **dict.fromkeys(("card.js", "draw.js", "form.js", "page.js"), _SCRIPT),
}


class ReviewPages:
    """The answers to the requests of the page."""

    def __init__(self, desk: Desk, own: Secrets) -> None:
        self._desk = desk
        self._own = own

    async def page(self, request: Request) -> Response:  # noqa: ARG002 - starlette's signature
        """The page itself."""
        values = {"csrf": self._own.csrf, "database": self._desk.database.name}
        text = (_FOLDER / "page.html").read_text("utf-8")
        for name, value in values.items():
            text = text.replace(f"%{name}%", html.escape(value))
        return Response(text, media_type="text/html")

    async def file(self, request: Request) -> Response:
        """One of the page's files."""
        name = request.path_params["name"]
        if name not in _FILES:
            return Response("There is no such file.", 404, media_type="text/plain")
        return Response((_FOLDER / name).read_bytes(), media_type=_FILES[name])

    async def waiting(self, request: Request) -> Response:  # noqa: ARG002 - starlette's signature
        """Every thread that waits."""
        threads = await to_thread.run_sync(self._desk.waiting)
        can_answer = self._desk.agent is not None
        return as_json({"threads": [line_of(t) for t in threads], "can_answer": can_answer})

    async def thread(self, request: Request) -> Response:
        """One thread."""
        ident = request.query_params.get("id", "")
        opened = await to_thread.run_sync(self._desk.open, ident)
        return as_json(sheet_of(opened, self._desk.in_hand))

    async def answer(self, request: Request) -> Response:
        """Take answers, and tell how the run went on."""
        thread, answers = _asked(await _body(request))
        outcome = await self._desk.answer(thread, answers)
        return as_json({"waits": outcome.waits, "failure": outcome.failure})


def review_app(desk: Desk, port: int, own: Secrets) -> Starlette:
    """The application behind the page.

    Args:
        desk: What is reviewed.
        port: The port on loopback that it is served at.
        own: What requests must know.
    """
    pages = ReviewPages(desk, own)
    return Starlette(
        routes=[
            Route("/", _told(pages.page)),
            Route("/{name}", _told(pages.file)),
            Route("/api/waiting", _told(pages.waiting)),
            Route("/api/thread", _told(pages.thread)),
            Route("/api/answer", _told(pages.answer), methods=["POST"]),
        ],
        middleware=[Middleware(Guard, port, own)],
    )


def as_json(value: Any, status: int = 200) -> Response:
    """A response in JSON."""
    text = json.dumps(value, ensure_ascii=False)
    return Response(text.encode("utf-8", "replace"), status, media_type="application/json")


Endpoint = Callable[[Request], Awaitable[Response]]


def _told(endpoint: Endpoint) -> Endpoint:
    """The endpoint, with errors of ours told in words."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except InterlockError as error:
            return as_json({"error": str(error)}, _status(error))

    return answer


def _status(error: InterlockError) -> int:
    if isinstance(error, (NotWaitingError, ConfigurationError)):
        return 409
    return 422 if isinstance(error, InvalidInputError) else 503


async def _body(request: Request) -> Any:
    """The JSON value of a request.

    Raises:
        InvalidInputError: It is too long, or no JSON.
    """
    received = bytearray()
    async for chunk in request.stream():
        received += chunk
        if len(received) > MOST_BYTES:
            msg = f"The answer is longer than {MOST_BYTES:,} bytes; shorten it."
            raise InvalidInputError(msg)
    try:
        return json.loads(received)
    except (ValueError, RecursionError):
        msg = "The request is no JSON."
        raise InvalidInputError(msg) from None


def _asked(body: Any) -> tuple[str, Mapping[str, Any]]:
    """The thread and the answers by id.

    Raises:
        InvalidInputError: Something else was sent.
    """
    given = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    thread, answers = given.get("thread"), given.get("answers")
    # JSON can write half of a surrogate pair, which is no text and no thread.
    is_text = isinstance(thread, str) and thread.encode(errors="ignore").decode() == thread
    if not is_text or not isinstance(answers, dict) or not answers:
        msg = "Send {'thread': id, 'answers': {id: decision}}."
        raise InvalidInputError(msg)
    return cast("str", thread), cast("dict[str, Any]", answers)
