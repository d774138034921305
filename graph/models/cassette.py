"""A file of recorded requests and answers; it never holds a key or a header of a request."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Final
from urllib.parse import urlencode

import httpx

from ...state.errors import ConfigurationError
from ...state.model_errors import ChatModelRequestError
from .openai_compatible.excerpt import excerpt
from .openai_compatible.hidden import Hidden, is_secret_name, secrets_among
from .openai_compatible.json_value import as_list, as_object

VERSION: Final = 1
_KEPT_HEADERS: Final = frozenset(
    {"content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id"}
)


@dataclass(frozen=True)
class Answer:
    """A recorded answer: decoded, in the blocks it came in."""

    status: int
    """HTTP status."""
    headers: dict[str, str]
    """The headers a chat model reads."""
    blocks: list[bytes] = field(default_factory=list[bytes])
    """The body, block by block."""


class Cassette:
    """Keeps answers by request, in the order they came.

    Requests are the same when method, path, query and body are: key and host do not count, so
    a cassette recorded with one account replays without any.

    Args:
        path: The file.
        hidden: Words that must never be written.

    Raises:
        ConfigurationError: The file exists and is no cassette of a known version.
    """

    def __init__(self, path: Path, hidden: Hidden) -> None:
        self._path = path
        self._hidden = hidden
        self._lock = Lock()
        self._entries: list[dict[str, Any]] = _read(path) if path.exists() else []
        self._replayed: dict[str, int] = {}

    def replay(self, request: httpx.Request) -> Answer:
        """Return the next recorded answer to a request.

        Args:
            request: The request; its body is read.

        Raises:
            ChatModelRequestError: It was not recorded, or less often than it is made.
        """
        wanted = self._identity(request)
        same = [entry for entry in self._entries if entry["request"] == wanted]
        name = json.dumps(wanted, sort_keys=True)
        with self._lock:
            position = self._replayed.get(name, 0)
            self._replayed[name] = position + 1
        if position >= len(same):
            times = f"only {len(same)} times" if same else "not"
            msg = (
                f"This request was {times} recorded in {str(self._path)!r}: {excerpt(name, 300)}. "
                "Delete the file to record again."
            )
            raise ChatModelRequestError(msg)
        answer = same[position]["answer"]
        blocks = [
            base64.b64decode(coded["base64"]) if (coded := as_object(b)) else str(b).encode()
            for b in answer["blocks"]
        ]
        return Answer(int(answer["status"]), dict(answer["headers"]), blocks)

    def record(self, request: httpx.Request, answer: Answer) -> None:
        """Add an answer and write the file.

        Args:
            request: The request it answers.
            answer: The whole answer.
        """
        hidden = self._hidden_with(request)
        entry = {
            "request": self._identity(request),
            "answer": {
                "status": answer.status,
                "headers": {
                    k: hidden.out_of(v) for k, v in answer.headers.items() if k in _KEPT_HEADERS
                },
                "blocks": [self._as_text(block) for block in _harmless(answer.blocks, hidden)],
            },
        }
        with self._lock:
            self._entries.append(entry)
            whole = {"version": VERSION, "entries": self._entries}
            text = json.dumps(whole, ensure_ascii=False, indent=1)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Readers never see half a file.
            unfinished = self._path.with_name(f"{self._path.name}.{os.getpid()}.part")
            unfinished.write_text(text, encoding="utf-8")
            unfinished.replace(self._path)

    def _identity(self, request: httpx.Request) -> dict[str, Any]:
        raw = request.read().decode("utf-8", "replace")
        hidden = self._hidden_with(request)
        text = hidden.out_of(raw)
        try:
            body: object = json.loads(text)
        except ValueError:
            body = text
        # A key in the query is another one when it is replayed.
        query = urlencode(
            [
                (name, "***" if is_secret_name(name) else hidden.out_of(value))
                for name, value in request.url.params.multi_items()
            ],
            safe="*",
        )
        return {
            "method": request.method,
            "path": request.url.path,
            "query": query,
            "body": body,
        }

    def _hidden_with(self, request: httpx.Request) -> Hidden:
        """Return what must not be written, with the secrets that only this request carries."""
        words = secrets_among(request.headers) + secrets_among(request.url.params)
        return self._hidden.and_also(words)

    @staticmethod
    def _as_text(block: bytes) -> str | dict[str, str]:
        try:
            return block.decode()
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(block).decode("ascii")}


def _harmless(blocks: list[bytes], hidden: Hidden) -> list[bytes]:
    """Return the blocks without secrets; joined where one might lie across two of them."""
    whole = b"".join(blocks)
    harmless = hidden.out_of_bytes(whole)
    return blocks if harmless == whole else [harmless]


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        content = as_object(json.loads(path.read_bytes()))
    except ValueError as exc:
        msg = f"{str(path)!r} is no cassette: {exc}. Delete it to record again."
        raise ConfigurationError(msg) from None
    version = content.get("version") if content else None
    if content is None or version != VERSION:
        msg = (
            f"{str(path)!r} is a cassette of version {version!r}; this release reads {VERSION}. "
            "Delete it to record again."
        )
        raise ConfigurationError(msg)
    return [entry for item in as_list(content.get("entries")) or [] if (entry := as_object(item))]
