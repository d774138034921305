"""What the model reads of a command that has been run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..state.guardrail_errors import PIIDetectionError
from ._execution import BaseExecutionPolicy
from .redaction import ResolvedRedactionRule
from .shell_session import CommandResult

_FACTS = (
    "timed_out",
    "exit_code",
    "truncated_by_lines",
    "truncated_by_bytes",
    "total_lines",
    "total_bytes",
)


@dataclass(frozen=True)
class Report:
    """The result of a command, as a tool gives it."""

    text: str
    status: Literal["success", "error"]
    facts: dict[str, Any]
    """What the caller may want to know, for the artifact."""


def describe(
    result: CommandResult, policy: BaseExecutionPolicy, rules: Sequence[ResolvedRedactionRule]
) -> Report:
    """The report of a result, with sensitive data hidden as the rules say."""
    facts = {name: getattr(result, name) for name in _FACTS}
    if result.timed_out:
        text = (
            f"Error: Command timed out after {policy.command_timeout:.1f} seconds. It was killed "
            "with the shell; the next command gets a new one."
        )
        return Report(text, "error", facts)
    text = result.output.strip("\n")
    try:
        for rule in rules:
            text = rule.redact(text)
    except PIIDetectionError as error:
        return Report(f"Output blocked: detected {error.pii_type}.", "error", facts)
    parts = [text or "<no output>"]
    if result.truncated_by_lines:
        cut, seen = policy.max_output_lines, result.total_lines
        parts.append(f"... Output truncated at {cut} lines (observed {seen}).")
    if result.truncated_by_bytes:
        cut, seen = policy.max_output_bytes or 0, result.total_bytes
        parts.append(f"... Output truncated at {cut} bytes (observed {seen}).")
    failed = result.exit_code not in (0, None)
    if failed:
        parts.append(f"Exit code: {result.exit_code}")
    return Report("\n\n".join(parts), "error" if failed else "success", facts)
