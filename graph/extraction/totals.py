"""What a job has done so far: counts, tokens, speed and the time that is left."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.messages.ai import UsageMetadata, add_usage

from .result import Extraction


@dataclass
class Totals:
    """Sums over the records of a job."""

    extracted: int = 0
    """Records with a value."""
    rejected: int = 0
    """Records without one."""
    attempts: int = 0
    """Requests to the model."""
    usage: dict[str, Any] = field(default_factory=dict[str, Any])
    """Tokens, in langchain-core's form."""
    resumed: int = 0
    """Records that an earlier run of the job had finished; not part of the speed."""

    @property
    def finished(self) -> int:
        """Records with a result of either kind, those of earlier runs included."""
        return self.extracted + self.rejected

    def add(self, result: Extraction[Any], *, resumed: bool = False) -> None:
        """Count a result."""
        if result.rejected:
            self.rejected += 1
        else:
            self.extracted += 1
        self.resumed += resumed
        self.attempts += result.attempts
        self.usage = summed_usage(self.usage, result.usage)

    def per_second(self, elapsed_s: float) -> float:
        """Records per second of this run."""
        return (self.finished - self.resumed) / elapsed_s if elapsed_s > 0 else 0.0

    def seconds_left(self, elapsed_s: float, records: int) -> float | None:
        """Time until the job is done at the speed so far, or None while there is none.

        Args:
            elapsed_s: Seconds since this run began.
            records: All records of the job.
        """
        speed = self.per_second(elapsed_s)
        return max(0, records - self.finished) / speed if speed else None


def summed_usage(before: object, more: object) -> dict[str, Any]:
    """Give the sum of two usages, either of which may be empty."""
    left = cast("UsageMetadata | None", before or None)
    right = cast("UsageMetadata | None", more or None)
    if left is None and right is None:
        return {}
    return dict(add_usage(left, right))
