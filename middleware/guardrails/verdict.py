"""What a check says: let it pass, change it, stop it, or ask a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["allow", "revise", "block", "ask"]


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check."""

    kind: Kind
    value: Any = None
    """For ``revise``, what takes the place of the checked value."""
    reason: str = ""
    """For ``block`` and ``ask``, what the user, model or reviewer gets to read."""


def allow() -> Verdict:
    """Let the value pass as it is."""
    return Verdict("allow")


def revise(value: Any) -> Verdict:
    """Let another value pass in its place: text, or the arguments of a tool call."""
    return Verdict("revise", value)


def block(reason: str = "This is not allowed.") -> Verdict:
    """Stop the value."""
    return Verdict("block", reason=reason)


def ask(question: str) -> Verdict:
    """Pause the run until a person says whether the value may pass.

    The run is resumed with ``"approve"`` (or ``True``) to let it pass; every other answer blocks.
    """
    return Verdict("ask", reason=question)
