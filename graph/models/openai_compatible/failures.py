"""From what went wrong on the wire to one small family of errors.

Source: the error codes of OpenAI's API reference (2026), llama.cpp's server and the providers
in the table; unknown shapes are classified by status.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import httpx
from pydantic_core import from_json

from ....middleware.asked_wait import wait_in_headers
from ....state.errors import ChatModelError
from ....state.model_errors import (
    ChatModelAuthenticationError,
    ChatModelCertificateError,
    ChatModelConnectionError,
    ChatModelContextOverflowError,
    ChatModelMalformedError,
    ChatModelNotFoundError,
    ChatModelPermissionError,
    ChatModelRateLimitError,
    ChatModelRequestError,
    ChatModelServerError,
    ChatModelTimeoutError,
)
from .excerpt import describe_body, excerpt
from .json_value import as_list, as_object
from .origin import Origin

_OVERFLOW: Final = re.compile(
    r"context.length|context.window|context.size|maximum.context|prompt.is.too.long"
    r"|too.many.(input.)?tokens|exceed_context_size",
    re.IGNORECASE,
)

_BY_WORD: Final[tuple[tuple[str, type[ChatModelError]], ...]] = (
    ("invalid_api_key", ChatModelAuthenticationError),
    ("authentication", ChatModelAuthenticationError),
    ("permission", ChatModelPermissionError),
    ("insufficient_quota", ChatModelRateLimitError),
    ("rate_limit", ChatModelRateLimitError),
    ("model_not_found", ChatModelNotFoundError),
    ("not_found", ChatModelNotFoundError),
    ("invalid_request", ChatModelRequestError),
    ("timeout", ChatModelTimeoutError),
)

_HINTS: Final[Mapping[type[ChatModelError], str]] = {
    ChatModelAuthenticationError: "Check the api_key setting or the provider's key variable.",
    ChatModelPermissionError: "Check what the key may use.",
    ChatModelNotFoundError: "Check the model name and the base_url.",
    ChatModelContextOverflowError: "Shorten the history or choose a model with more context.",
    ChatModelRateLimitError: "Try again later, or raise the quota.",
    ChatModelRequestError: "Change the request.",
    ChatModelServerError: "Try again later.",
    ChatModelTimeoutError: "Try again later.",
}

_QUOTA_CODES: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


def from_status(body: bytes, origin: Origin) -> ChatModelError:
    """Return the error for an answer whose HTTP status is no success.

    Args:
        body: The answer's body, or its beginning.
        origin: Status and headers of the answer.
    """
    body = origin.hidden.out_of_bytes(body)
    said = _said(body)
    words = said.words or describe_body(body, origin.headers.get("content-type", ""))
    return _build(
        _class_of(origin.status, said.code, words),
        f"The provider refused the request with HTTP {origin.status}",
        _Said(words, said.code),
        origin,
    )


def from_error_object(error: object, origin: Origin) -> ChatModelError:
    """Return the error for an ``error`` object inside a successful answer or a stream.

    Args:
        error: The value of the ``error`` key, or the payload of an error event.
        origin: Status and headers of the answer that carried it.
    """
    said = _said_by(error)
    inner = int(said.code) if re.fullmatch(r"[1-5][0-9][0-9]", said.code) else 0
    words = said.words or excerpt(repr(error))
    return _build(
        _class_of(inner, said.code, words),
        f"The provider reported an error inside its answer (HTTP {origin.status})",
        _Said(words, said.code),
        origin,
    )


def from_transport(exc: httpx.HTTPError | httpx.StreamError, *, timeout_s: float) -> ChatModelError:
    """Return the error for a request that got no answer at all.

    Args:
        exc: What the transport raised before the first byte of the answer.
        timeout_s: The time limit that was set, in seconds.
    """
    if isinstance(exc, httpx.TimeoutException):
        phase = type(exc).__name__.removesuffix("Timeout").lower()
        return ChatModelTimeoutError(
            f"The provider did not answer within {timeout_s:g} s ({phase}). "
            "Raise the timeout setting, or try again later.",
            phase=phase,
        )
    if isinstance(exc, (httpx.UnsupportedProtocol, httpx.LocalProtocolError)):
        return ChatModelRequestError(
            f"The request cannot be sent: {excerpt(str(exc))}. Check base_url and headers."
        )
    detail = excerpt(str(exc)) or type(exc).__name__
    refused = _refused_certificate(exc)
    if refused is not None:
        return ChatModelCertificateError(
            f"The provider's certificate was refused, so nothing was sent: {refused}. "
            "Check base_url, or name the file of certificates to trust in ca_file."
        )
    if isinstance(exc, httpx.ProxyError):
        return ChatModelConnectionError(
            f"The proxy let no connection through: {detail}. Check the proxy setting."
        )
    return ChatModelConnectionError(
        f"The connection to the provider failed: {detail}. Check base_url and the network."
    )


def _refused_certificate(exc: BaseException | None) -> str | None:
    """Return why the peer's certificate was refused, if that is what began the chain."""
    while exc is not None:
        if isinstance(exc, ssl.SSLCertVerificationError):
            return excerpt(exc.verify_message, 200)
        exc = exc.__cause__ or exc.__context__
    return None


def malformed(what: str, origin: Origin) -> ChatModelMalformedError:
    """Return the error for an answer that is not what the protocol promises.

    Args:
        what: What came instead.
        origin: Where it came from.
    """
    return ChatModelMalformedError(
        origin.hidden.out_of(
            f"The provider's answer is malformed: it holds {what}. "
            "Check that base_url leads to an OpenAI-compatible server."
        ),
        status=origin.status,
        request_id=origin.request_id,
    )


class _Said:
    """What the provider said: words and code, either may be empty."""

    __slots__ = ("code", "words")

    def __init__(self, words: str = "", code: str = "") -> None:
        self.words = words
        self.code = code


def _said(body: bytes) -> _Said:
    try:
        value: object = from_json(body)
    except ValueError:
        return _Said()
    items = as_list(value)
    if items:
        value = items[0]
    payload = as_object(value)
    return _said_by(value if payload is None else payload.get("error") or payload)


def _said_by(error: object) -> _Said:
    if isinstance(error, str):
        return _Said(error)
    found = as_object(error)
    if found is None:
        return _Said()
    words: object = None
    for key in ("message", "detail", "msg", "error", "reason"):
        words = found.get(key)
        if words:
            break
    code: object = None
    for key in ("code", "type", "status"):
        code = found.get(key)
        if code:
            break
    return _Said(
        words if isinstance(words, str) else excerpt(repr(words)) if words else "",
        str(code)[:80] if isinstance(code, (str, int)) else "",
    )


def _class_of(status: int, code: str, words: str) -> type[ChatModelError]:
    if status in (0, 400, 413, 422, 500) and (_OVERFLOW.search(code) or _OVERFLOW.search(words)):
        return ChatModelContextOverflowError
    by_status: dict[int, type[ChatModelError]] = {
        401: ChatModelAuthenticationError,
        402: ChatModelRateLimitError,
        403: ChatModelPermissionError,
        404: ChatModelNotFoundError,
        408: ChatModelTimeoutError,
        409: ChatModelServerError,
        429: ChatModelRateLimitError,
    }
    if status in by_status:
        return by_status[status]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ChatModelServerError
    for word, error in _BY_WORD:
        if word in code.lower():
            return error
    return ChatModelRequestError if status else ChatModelServerError


def _build(
    error_class: type[ChatModelError], what: str, said: _Said, origin: Origin
) -> ChatModelError:
    # Cut afterwards, not through a secret.
    words = excerpt(origin.hidden.out_of(said.words))
    code = origin.hidden.out_of(said.code)
    request_id = origin.request_id
    label = f" [{code}]" if code and code not in words else ""
    trace = f" Request id: {request_id!r}." if request_id else ""
    error = error_class(
        f"{what}{label}: {words}.{trace} {_HINTS.get(error_class, 'Try again later.')}",
        status=origin.status,
        provider_message=words,
        error_code=code or None,
        request_id=request_id,
        retry_after_s=wait_in_headers(origin.headers),
    )
    if code in _QUOTA_CODES or origin.status == HTTPStatus.PAYMENT_REQUIRED:
        error.is_retryable = False  # type: ignore[attr-defined]  # waiting does not fill an account
    return error
