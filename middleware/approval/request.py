"""What a reviewer is shown: the value of the interrupt, and what may be read off it.

Source: the payloads of LangChain 1.5.2's ``HumanInTheLoopMiddleware``, one per turn
(``HITLRequest``) or one per call (``ToolApprovalRequest``). ``tool_call_id`` in a turn's requests
is ours: answers may name calls instead of counting them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, cast

from typing_extensions import TypedDict

from .decision import Decision, DecisionType


class ActionRequest(TypedDict):
    """One call that waits."""

    name: str
    args: dict[str, Any]
    description: NotRequired[str]
    tool_call_id: NotRequired[str]


class ReviewConfig(TypedDict):
    """What may be decided about it."""

    action_name: str
    allowed_decisions: list[DecisionType]
    args_schema: NotRequired[dict[str, Any]]
    """JSON schema of the tool's arguments, to draw a form from."""


class HITLRequest(TypedDict):
    """All calls of a turn that wait, in call order."""

    action_requests: list[ActionRequest]
    review_configs: list[ReviewConfig]
    """One for each request, in the same order."""


class HITLResponse(TypedDict):
    """The answer to a ``HITLRequest``."""

    decisions: list[Decision] | dict[str, Decision]
    """One decision per request, in order; or some of them by tool call id."""


class ToolApprovalRequest(TypedDict):
    """A single call that waits; it is answered with a single decision."""

    type: Literal["tool_approval"]
    tool_call_id: str
    name: str
    args: dict[str, Any]
    description: str


@dataclass(frozen=True)
class Asked:
    """One call that an interrupt asks about."""

    name: str
    args: dict[str, Any]
    description: str
    allowed: tuple[DecisionType, ...]
    """Empty where the interrupt does not say; its schema does then."""
    call_id: str | None
    """None in a request that LangChain made: answers go by position."""
    args_schema: Mapping[str, Any] | None = None


def asked_in(value: Any) -> Sequence[Asked] | None:
    """The calls that an interrupt's value asks about, or None if it asks something else."""
    if not isinstance(value, Mapping):
        return None
    payload = cast("Mapping[str, Any]", value)
    if payload.get("type") == "tool_approval" and "tool_call_id" in payload:
        return [_asked(payload, {})]
    requests, configs = payload.get("action_requests"), payload.get("review_configs")
    if not isinstance(requests, list) or not isinstance(configs, list):
        return None
    entries = cast("list[Any]", requests)
    if not all(_names(entry, "name") for entry in entries):
        return None
    rules: dict[str, Mapping[str, Any]] = {
        c["action_name"]: c for c in cast("list[Any]", configs) if _names(c, "action_name")
    }
    return [_asked(entry, rules.get(entry["name"], {})) for entry in entries]


def _names(entry: Any, key: str) -> bool:
    return isinstance(entry, Mapping) and isinstance(cast("Any", entry).get(key), str)


def is_single(value: Any) -> bool:
    """Whether an interrupt's value asks about one call and takes the bare decision."""
    return isinstance(value, Mapping) and cast("Any", value).get("type") == "tool_approval"


def _asked(request: Mapping[str, Any], config: Mapping[str, Any]) -> Asked:
    return Asked(
        name=request["name"],
        args=dict(request.get("args") or {}),
        description=str(request.get("description") or ""),
        allowed=tuple(config.get("allowed_decisions") or ()),
        call_id=request.get("tool_call_id"),
        args_schema=config.get("args_schema"),
    )
