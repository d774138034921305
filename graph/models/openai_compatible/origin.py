"""Where an answer came from: what its readers need besides the payload."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import httpx

from .excerpt import excerpt
from .hidden import Hidden


@dataclass(frozen=True, slots=True)
class Origin:
    """Status and headers of an answer, and who gave it."""

    provider: str
    """Name of the provider, as in ``provider:model``."""
    status: int
    """HTTP status."""
    headers: httpx.Headers
    """The answer's headers."""
    hidden: Hidden = field(default_factory=Hidden)
    """Words that must not be shown in an error."""

    @property
    def request_id(self) -> str | None:
        """The provider's id of the request, where it gave one."""
        given = self.headers.get("x-request-id") or self.headers.get("request-id")
        return excerpt(given, 200) if given else None

    def metadata(self) -> dict[str, Any]:
        """Return what goes into every message's ``response_metadata``."""
        found: dict[str, Any] = {"model_provider": self.provider}
        request_id = self.request_id
        if request_id:
            found["request_id"] = request_id
        return found
