"""What became of one record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .record import Record

ValueT = TypeVar("ValueT")


@dataclass(frozen=True)
class Extraction(Generic[ValueT]):
    """A record with the object that was extracted from it, or with why there is none."""

    record: Record
    value: ValueT | None = None
    """The object, as the schema makes it."""
    error: str | None = None
    """Why the record was rejected; None for one that was not."""
    error_type: str | None = None
    """Class name of that error."""
    attempts: int = 0
    """How many times the model was asked, for whatever reason."""
    usage: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Tokens of all attempts together, in langchain-core's form."""
    seconds: float = 0.0
    """Time from the first attempt to the result, waits included."""
    last_output: str = ""
    """What the model said last, for a rejected record."""
    data: Any = None
    """The model's own JSON value, from which ``value`` was made."""
    schema_name: str = ""
    """Which schema of a union the value fits."""
    resumed: bool = field(default=False, compare=False)
    """Whether an earlier run of the job has made it."""

    @property
    def rejected(self) -> bool:
        """Whether nothing could be extracted."""
        return self.error is not None
