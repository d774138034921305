"""The ways a guardrail ends a run; the tree is in ``errors.py``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import ConfigurationError, GuardrailError


class PIIDetectionError(GuardrailError):
    """Sensitive data was found where it must not be; the message does not repeat it."""

    def __init__(self, pii_type: str, matches: Sequence[Any]) -> None:
        count = len(matches)
        super().__init__(
            f"Detected {count} instance(s) of {pii_type} in text content; the run is blocked. "
            "Remove the data, or choose a strategy other than 'block'."
        )
        self.pii_type = pii_type
        """What kind of data it is."""
        self.matches = list(matches)
        """What was found. It holds the data itself: keep it out of logs."""


class DetectorError(GuardrailError):
    """A detector failed, took too long or gave an unusable answer, so the text may not pass."""


class ModerationError(GuardrailError):
    """Content was flagged, or could not be checked, and the guardrail ends the run."""

    def __init__(self, message: str, *, reason: str, place: str) -> None:
        super().__init__(message)
        self.reason = reason
        """Why, as the classifier says it."""
        self.place = place
        """Where: ``input``, ``output`` or ``tool result``."""


class FirewallError(GuardrailError):
    """A tool call is outside what the firewall allows."""

    def __init__(self, message: str, *, tool_name: str, fault: str) -> None:
        super().__init__(message)
        self.tool_name = tool_name
        """Name of the called tool."""
        self.fault = fault
        """What about the call is not allowed."""


class ExecutionPolicyError(ConfigurationError, RuntimeError):
    """The limits or the sandbox that a policy asks for cannot be had on this machine."""
