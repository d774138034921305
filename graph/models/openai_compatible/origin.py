"""Where an answer came from: what its readers need besides the payload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from ....state.errors import ChatModelError
from .failures import from_error_object


@dataclass(frozen=True, slots=True)
class Origin:
    """Status and headers of an answer, and who gave it."""

    provider: str
    """Name of the provider, as in ``provider:model``."""
    status: int
    """HTTP status."""
    headers: httpx.Headers
    """The answer's headers."""
    secrets: Sequence[str] = ()
    """Words that must not be shown in an error."""

    def metadata(self) -> dict[str, Any]:
        """Return what goes into every message's ``response_metadata``."""
        found: dict[str, Any] = {"model_provider": self.provider}
        request_id = self.headers.get("x-request-id") or self.headers.get("request-id")
        if request_id:
            found["request_id"] = request_id
        return found

    def provider_error(self, error: object) -> ChatModelError:
        """Return the exception for an error the answer carries.

        Args:
            error: The value of its ``error`` key, or the payload of an error event.
        """
        return from_error_object(
            error, status=self.status, headers=self.headers, secrets=self.secrets
        )
