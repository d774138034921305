"""How a chat model can fail: the branch of the error tree below ``ChatModelError``.

Each class also derives from the member of langchain-core's ``ModelError`` family that means
the same, so middleware that reads ``is_retryable`` or catches ``ModelRateLimitError`` decides
right. The tree is drawn in ``errors.py``.
"""

from __future__ import annotations

from typing import Any

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelRefusalError,
    ModelTimeoutError,
)
from langchain_core.messages import AIMessage

from .errors import ChatModelError


class ChatModelTimeoutError(ChatModelError, ModelTimeoutError):
    """The provider did not answer in time."""

    def __init__(self, message: str, *, phase: str = "read", **details: Any) -> None:
        super().__init__(message, **details)
        self.phase = phase
        """What took too long: connect, pool, write, read, stall or total."""


class ChatModelConnectionError(ChatModelError, ModelConnectionError):
    """The provider cannot be reached, or hung up before its answer began."""


class ChatModelCertificateError(ChatModelConnectionError):
    """The provider's certificate was refused, so nothing was sent."""

    is_retryable = False


class ChatModelRateLimitError(ChatModelError, ModelRateLimitError):
    """The provider takes no more requests for now, or for this account."""


class ChatModelContextOverflowError(ChatModelError, ContextOverflowError):
    """The input does not fit into the model's context."""


class ChatModelAuthenticationError(ChatModelError, ModelAuthenticationError):
    """The provider does not know the key."""


class ChatModelPermissionError(ChatModelError, ModelPermissionDeniedError):
    """The key may not use this model or this feature."""


class ChatModelNotFoundError(ChatModelError, ModelNotFoundError):
    """The provider has no such model, or the base URL leads nowhere."""


class ChatModelRequestError(ChatModelError, ModelInvalidRequestError):
    """The request was refused, by the provider or before it was sent."""


class ChatModelServerError(ChatModelError, ModelAPIError):
    """The provider failed while it worked on the request."""


class ChatModelMalformedError(ChatModelError, ModelError):
    """The answer is not what the protocol promises."""


class ChatModelTooLargeError(ChatModelMalformedError):
    """The answer, or one event of it, is longer than the limit."""


class ChatModelIncompleteError(ChatModelError, ModelError):
    """The stream ended before the answer did; what arrived must not be used."""

    is_retryable = True


class ChatModelRefusalError(ChatModelError, ModelRefusalError):
    """The model refused, and the caller needs what it withheld."""

    def __init__(self, message: str, *, ai_message: AIMessage | None = None) -> None:
        # ModelRefusalError takes no keyword of ours, so the chain of __init__ ends here.
        RuntimeError.__init__(self, message)
        self.status = self.retry_after_s = None
        self.provider_message = self.error_code = self.request_id = None
        self.raw_message = ai_message
        """The reply that holds the refusal."""


class ScriptError(ChatModelError):
    """A ``ScriptedChatModel`` was asked for what its script does not hold: the test is wrong."""

    def __init__(self, message: str, *, position: int) -> None:
        super().__init__(message)
        self.position = position
        """Which call it was, counted from 0: also the position of the step in the script."""
