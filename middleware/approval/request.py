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

from .decision import DECISION_TYPES, Decision, DecisionType


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
    """The calls that an interrupt's value asks about, or None if it asks something else.

    What has the name of a request but not its form asks something else: it is shown as it is.
    """
    payload = _mapping(value)
    if payload.get("type") == "tool_approval" and "tool_call_id" in payload:
        return [_asked(payload, {})] if _is_request(payload) else None
    requests, configs = payload.get("action_requests"), payload.get("review_configs")
    if not isinstance(requests, list) or not isinstance(configs, list):
        return None
    entries = cast("list[Any]", requests)
    if not all(map(_is_request, entries)):
        return None
    rules: dict[Any, Mapping[str, Any]] = {
        config["action_name"]: config
        for config in map(_mapping, cast("list[Any]", configs))
        if isinstance(config.get("action_name"), str)
    }
    return [_asked(entry, rules.get(entry["name"], {})) for entry in entries]


def is_single(value: Any) -> bool:
    """Whether an interrupt's value asks about one call and takes the bare decision."""
    return _mapping(value).get("type") == "tool_approval"


def _is_request(entry: Any) -> bool:
    request = _mapping(entry)
    args, ident = request.get("args"), request.get("tool_call_id")
    return (
        isinstance(request.get("name"), str)
        and (args is None or isinstance(args, Mapping))
        and (ident is None or isinstance(ident, str))
    )


def _asked(request: Mapping[str, Any], config: Mapping[str, Any]) -> Asked:
    listed: Any = config.get("allowed_decisions")
    allowed = cast("list[Any]", listed) if isinstance(listed, list) else []
    return Asked(
        name=request["name"],
        args=dict(request.get("args") or {}),
        description=str(request.get("description") or ""),
        allowed=tuple(decision for decision in allowed if decision in DECISION_TYPES),
        call_id=request.get("tool_call_id"),
        args_schema=_mapping(config.get("args_schema")) or None,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
