"""Where a run goes next: pure functions of the messages, the ledger and the agent's rules.

The order, after a reply: pending calls, then the exit conditions, then the step limit; after the
tools: exit tools, then calls of the reply that had to wait, then the step limit. Jumps of hooks
are resolved before any of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from ..state.errors import InvalidJumpError
from ..state.exit_reasons import (
    EXIT_INVALID_TOOL_CALLS,
    EXIT_JUMP,
    EXIT_MAX_AGENT_STEPS,
    EXIT_MAX_TOKENS_TOTAL,
    EXIT_STRUCTURED_RESPONSE,
    EXIT_TEXT,
)
from ..state.finish import finish_of
from ..state.history import last_ai_message, pending_calls
from ..state.ledger import Ledger
from ..state.schema import JUMP_TARGETS
from .exits import ExitRules

MAX_FRUITLESS_REPLIES = 2
"""Replies in a row, empty or with unreadable calls only, that are asked again."""

EMPTY_NUDGE = "Your last reply was empty. Answer, or call a tool."
TEXT_NUDGE = "A reply in text does not finish this task. Call one of the tools: {tools}."
FINAL_NUDGE = "No further tool calls are possible. Give your final answer now, in text."

_NO_ANSWER = frozenset(
    {"text", "reasoning", "thinking", "redacted_thinking", "tool_use", "input_json_delta"}
)
"""Content blocks that are no answer in themselves."""


@dataclass(frozen=True)
class Step:
    """A decision: where to, and what goes with it."""

    to: Literal["model", "tools", "exit"]
    reason: str | None = None
    """The exit reason."""
    message: str | None = None
    """Id of the message that ends the run."""
    nudge: str | None = None
    """What the model is told when it is asked again."""
    drop_reply: bool = False
    """The reply says nothing; it does not stay in the conversation."""


def after_model(messages: Sequence[BaseMessage], ledger: Ledger, rules: ExitRules) -> Step:
    """Where to go after a reply.

    Args:
        messages: The conversation, answers to calls that are not to be run included.
        ledger: The counters, this step not counted yet, and what the reply meant for a
            structured answer.
        rules: What ends a run.
    """
    found = last_ai_message(messages)
    if found is None:
        return Step("exit", EXIT_TEXT)
    reply = found[1]
    if ledger.final_answer:
        return Step("exit", EXIT_MAX_AGENT_STEPS, reply.id)
    if pending_calls(messages):
        return Step("tools") if rules.calls_tools else Step("exit", EXIT_TEXT, reply.id)
    if ledger.output == "answered":
        return Step("exit", EXIT_STRUCTURED_RESPONSE, reply.id)
    if reply.invalid_tool_calls and not reply.tool_calls:
        again = ledger.fruitless_replies <= MAX_FRUITLESS_REPLIES
        return Step("model") if again else Step("exit", EXIT_INVALID_TOOL_CALLS, reply.id)
    if ledger.output == "again" or reply.tool_calls or reply.invalid_tool_calls:
        # No answer, or calls that were refused, unreadable or cut off: the model reads why.
        return Step("model")
    if finish := finish_of(reply):
        return Step("exit", finish, reply.id)
    return _after_text(reply, ledger, rules)


def _after_text(reply: AIMessage, ledger: Ledger, rules: ExitRules) -> Step:
    if not rules.calls_tools:
        return Step("exit", EXIT_TEXT, reply.id)
    if not says_something(reply):
        if ledger.fruitless_replies <= MAX_FRUITLESS_REPLIES:
            return Step("model", nudge=EMPTY_NUDGE, drop_reply=True)
        return Step("exit", EXIT_TEXT, reply.id)
    if not rules.text:
        return Step("model", nudge=TEXT_NUDGE.format(tools=", ".join(sorted(rules.tools))))
    return Step("exit", EXIT_TEXT, reply.id)


def says_something(reply: AIMessage) -> bool:
    """Whether a reply holds text, a call that can be read, or content other than reasoning."""
    content: Any = reply.content
    if reply.tool_calls or reply.text.strip():
        return True
    return not isinstance(content, str) and any(
        isinstance(b, dict) and cast("Any", b).get("type") not in _NO_ANSWER
        for b in cast("list[Any]", content)
    )


def after_tools(
    messages: Sequence[BaseMessage],
    executed: Sequence[str],
    rules: ExitRules,
    direct: Sequence[str] = (),
    *,
    answered: bool = False,
) -> Step:
    """Where to go after calls were run.

    An exit tool ends the run, the first in call order names the reason; a failed call of an exit
    tool vetoes it, even beside a successful one. ``return_direct`` ends the run if every executed
    call had it and succeeded.

    Args:
        messages: The conversation with the results.
        executed: Ids of the calls of the last reply that were run, in call order.
        rules: What ends a run.
        direct: Ids of the executed calls whose tool returns directly.
        answered: The reply also gave the structured answer that was due.

    Source: the exit rules of Haystack 3.4, its names matched by call id.
    """
    if pending_calls(messages):
        return Step("tools")
    found = last_ai_message(messages)
    if found is None:
        return Step("model")
    position, reply = found
    results = {m.tool_call_id: m for m in messages[position + 1 :] if isinstance(m, ToolMessage)}
    names = {cast("str", c["id"]): c["name"] for c in reply.tool_calls}
    ran = [i for i in executed if i in results and i in names]
    exits = [i for i in ran if names[i] in rules.tools]
    if exits and all(results[i].status != "error" for i in exits):
        return Step("exit", names[exits[0]], results[exits[0]].id)
    if answered:
        return Step("exit", EXIT_STRUCTURED_RESPONSE, reply.id)
    if ran and all(i in direct and results[i].status != "error" for i in ran):
        return Step("exit", names[ran[-1]], results[ran[-1]].id)
    return Step("model")


def within_limits(step: Step, ledger: Ledger, rules: ExitRules) -> Step:
    """The step, unless it asks the model although the run may not go on."""
    if step.to != "model":
        return step
    used = ledger.token_usage.get("total_tokens", 0)
    if rules.max_tokens_total is not None and used >= rules.max_tokens_total:
        return Step("exit", EXIT_MAX_TOKENS_TOTAL)
    if ledger.step_count >= rules.max_steps:
        if rules.final_answer and not ledger.final_answer:
            return Step("model", nudge=FINAL_NUDGE)
        return Step("exit", EXIT_MAX_AGENT_STEPS)
    return step


@dataclass(frozen=True)
class JumpRequest:
    """A jump that a hook asked for."""

    owner: str
    """The hook, as ``Middleware.hook``."""
    target: Any
    allowed: tuple[str, ...] | None = None
    """What it declared; None if it declared nothing."""
    stop_reason: str | None = None
    """The exit reason it gave."""
    legal: Sequence[str] = field(default=JUMP_TARGETS)
    """The nodes there are."""


def resolve_jump(jump: JumpRequest, messages: Sequence[BaseMessage]) -> Step:
    """Where a jump leads.

    Raises:
        InvalidJumpError: The target does not exist, is not among the declared ones, or is
            ``tools`` while no call is pending.
    """
    allowed = tuple(jump.allowed if jump.allowed is not None else jump.legal)
    if jump.target not in jump.legal or jump.target not in allowed:
        why = "does not exist" if jump.target not in jump.legal else "was not declared"
        msg = (
            f"{jump.owner} asked for a jump to {jump.target!r}, which {why}; it may jump to "
            f"{', '.join(map(repr, allowed)) or 'nothing'}."
        )
        raise InvalidJumpError(msg, owner=jump.owner, target=jump.target, allowed=allowed)
    if jump.target == "end":
        last = messages[-1].id if messages else None
        return Step("exit", jump.stop_reason or EXIT_JUMP, last)
    if jump.target == "tools" and not pending_calls(messages):
        msg = (
            f"{jump.owner} asked for a jump to 'tools', but no tool call is pending; add an AI "
            "message with tool calls first."
        )
        raise InvalidJumpError(msg, owner=jump.owner, target="tools", allowed=allowed)
    return Step("tools" if jump.target == "tools" else "model")
