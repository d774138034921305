"""When a tool result leaves the conversation for a store."""

from __future__ import annotations

from typing import Any, Protocol

from ..state.errors import ConfigurationError


class OffloadPolicy(Protocol):
    """Decides for a single result."""

    def should_offload(self, tool_name: str, result: str, state: Any) -> bool:
        """Whether the result goes to the store.

        Args:
            tool_name: The tool that returned it.
            result: What it occupies in the conversation: its text, and images and files as
                base64.
            state: The agent's state.
        """
        ...


class AlwaysOffload:
    """Every result goes to the store."""

    def should_offload(self, tool_name: str, result: str, state: Any) -> bool:  # noqa: ARG002
        """Yes."""
        return True


class NeverOffload:
    """Results stay: takes a tool out of a wider setting."""

    def should_offload(self, tool_name: str, result: str, state: Any) -> bool:  # noqa: ARG002
        """No."""
        return False


class OffloadOverChars:
    """Results longer than a number of characters go to the store."""

    def __init__(self, threshold: int) -> None:
        """Set the number of characters up to which a result stays.

        Raises:
            ConfigurationError: It is negative or no whole number.
        """
        given: Any = threshold
        if isinstance(given, bool) or not isinstance(given, int) or given < 0:
            msg = f"threshold is {given!r}; give a number of characters of at least 0."
            raise ConfigurationError(msg)
        self.threshold = threshold

    def should_offload(self, tool_name: str, result: str, state: Any) -> bool:  # noqa: ARG002
        """Whether the result is longer."""
        return not self.keeps(result)

    def keeps(self, result: str) -> bool:
        """Whether the result is short enough to stay."""
        return len(result) <= self.threshold
