"""Tool calls let through by their arguments, from a list of what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import interrupt

from ..state.errors import ConfigurationError
from ..state.guardrail_errors import FirewallError
from .base import AgentMiddleware
from .firewall_rules import Condition, read_condition
from .flows import Flow, flow_layer

OnViolation = Literal["message", "error", "ask"]

OTHERS = "*"
"""Key of the rules: what holds for all tools, or arguments, that are not named."""

ToolRules = Mapping[str, Condition] | None
"""Conditions by argument; None lets the tool run with any arguments."""


class ToolFirewallMiddleware(AgentMiddleware[Any, Any, Any]):
    """Runs only the tool calls that its rules allow; everything that is not named is refused.

    >>> firewall = ToolFirewallMiddleware({
    ...     "pay": {"amount": {"max": 100}, "to": ["rent", "power"]},
    ...     "fetch": {"url": {"hosts": ["*.example.com"]}},
    ...     "read": {"path": {"under": ["/data"]}, "*": "any"},
    ...     "now": "any",
    ... })
    >>> firewall.fault("pay", {"amount": 500, "to": "rent"})
    "argument 'amount': it must be a number of at most 100"
    >>> firewall.fault("shell", {"command": "ls"})
    'the tool is not on the list of allowed tools'

    Rules are data, so they can come from a configuration file. Arguments are named by a path such
    as ``order.total``; then ``order`` must be an object, a rule for it must hold as well, and
    parts that are not named are allowed only if it has one, or by ``order.*`` or ``*``. List this middleware last: then it sees a call as it will be run, whatever
    other middleware or a reviewer made of it.

    What this does **not** cover: what a tool does with allowed arguments, such as following a
    link inside an allowed folder or a redirect to another host; tools that the provider runs.

    Args:
        rules: By tool name: conditions by argument (see
            :class:`~interlock.middleware.firewall_rules.Condition`), or ``"any"``. The tool ``"*"``
            stands for all that are not named, the argument ``"*"`` likewise.
        on_violation: ``message`` tells the model what is not allowed, ``error`` ends the run with
            ``FirewallError``, ``ask`` pauses it: ``Command(resume="allow")`` runs the call,
            anything else refuses it.

    Raises:
        ConfigurationError: A rule is wrong.
    """

    def __init__(self, rules: Mapping[str, Any], *, on_violation: OnViolation = "message") -> None:
        super().__init__()
        if on_violation not in ("message", "error", "ask"):
            msg = f"on_violation is {on_violation!r}; give 'message', 'error' or 'ask'."
            raise ConfigurationError(msg)
        if not isinstance(cast("Any", rules), Mapping):
            msg = f"rules is {rules!r}; give a dict of rules by tool name."
            raise ConfigurationError(msg)
        self._rules = {tool: _tool_rules(tool, given) for tool, given in rules.items()}
        self._on_violation = on_violation
        if on_violation == "error":
            vars(self)["after_tools"] = self._raise_refused

    def fault(self, tool: str, args: Mapping[str, Any]) -> str | None:
        """Why a call is not allowed, without repeating its values; None if it is."""
        if tool not in self._rules and OTHERS not in self._rules:
            return "the tool is not on the list of allowed tools"
        rules = self._rules[tool] if tool in self._rules else self._rules[OTHERS]
        return None if rules is None else _fault(args, rules, "")

    def _flow(self, request: ToolCallRequest) -> Flow[Any] | None:
        """Run a call if it is allowed."""
        call = request.tool_call
        fault = self.fault(call["name"], call["args"])
        return None if fault is None else self._held(request, fault)

    wrap_tool_call, awrap_tool_call = flow_layer(_flow)

    def _held(self, request: ToolCallRequest, fault: str) -> Flow[Any]:
        """Ask about a call that is not allowed, or refuse it."""
        call = request.tool_call
        if self._on_violation == "ask" and self._is_allowed(call, fault):
            return (yield request)
        return ToolMessage(
            f"The call was not run: {fault}. Change it, or go on without it.",
            tool_call_id=cast("str", call["id"]),
            name=call["name"],
            status="error",
            additional_kwargs={_MARK: fault},
        )

    def _is_allowed(self, call: Any, fault: str) -> bool:
        question = {
            "type": "firewall_review",
            "tool_call_id": call["id"],
            "name": call["name"],
            "args": call["args"],
            "fault": fault,
        }
        answer: object = interrupt(question)
        return answer == "allow"

    def _raise_refused(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
        """End the run if a call of the last reply was refused."""
        for message in reversed(state["messages"]):
            if not isinstance(message, ToolMessage):
                return
            fault = message.additional_kwargs.get(_MARK)
            if fault:
                msg = f"The call of {message.name!r} is not allowed: {fault}."
                raise FirewallError(msg, tool_name=str(message.name), fault=str(fault))


_MARK = "interlock_refused"


def _tool_rules(tool: str, given: Any) -> ToolRules:
    if given == "any":
        return None
    if not isinstance(given, Mapping):
        msg = f"The rules for {tool!r} are {given!r}; give conditions by argument, or 'any'."
        raise ConfigurationError(msg)
    entries = cast("Mapping[str, Any]", given)
    for argument in entries:
        if OTHERS in argument.split(".")[:-1]:
            msg = f"The rule for {tool!r} names {argument!r}; '*' can only be the last part."
            raise ConfigurationError(msg)
    return {argument: read_condition(tool, argument, rule) for argument, rule in entries.items()}


def _fault(
    args: Mapping[str, Any], rules: Mapping[str, Condition], path: str, *, allowed: bool = False
) -> str | None:
    """The first argument that is not allowed; objects are entered where rules name their parts.

    Args:
        args: The arguments, or the parts of one.
        rules: The conditions by path.
        path: What leads to the arguments: nothing, or a path with a dot at its end.
        allowed: A rule for the whole object lets parts pass that no other rule is for.
    """
    for name, value in args.items():
        place = f"{path}{name}"
        rule = rules.get(place)
        has_parts = any(known.startswith(f"{place}.") for known in rules)
        if rule is None and not has_parts:
            rule = rules.get(f"{path}{OTHERS}") or (None if allowed else rules.get(OTHERS))
            if rule is None and not allowed:
                return f"argument {place[:64]!r} is not on the list of allowed arguments"
        if rule is not None and (fault := rule.fault(value)) is not None:
            return f"argument {place[:64]!r}: {fault}"
        if has_parts:
            if not isinstance(value, Mapping):
                return f"argument {place[:64]!r}: it must be an object, its parts have rules"
            parts = cast("Mapping[str, Any]", value)
            if (fault := _fault(parts, rules, f"{place}.", allowed=rule is not None)) is not None:
                return fault
    return None
