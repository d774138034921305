"""A thread as plain data: what the page of the browser is told.

Arguments travel as JSON texts: a browser would round a long number, and would send it back so.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage

from ....middleware.approval.pending import PendingApproval
from ....middleware.approval.reviewer import DESCRIPTION_PREFIX
from ...approvals import WaitingThread
from .desk import Opened, together
from .fields import FormField, answer_field, edit_forms

LONGEST_GIST = 120
LONGEST_TEXT = 20_000
"""Characters of a message that are shown. Arguments that wait are always shown in full."""


def line_of(thread: WaitingThread) -> dict[str, Any]:
    """A waiting thread in the list."""
    return {
        "id": thread.thread_id,
        "since": thread.since.isoformat() if thread.since else None,
        "ids": [p.full_id for p in thread.approvals],
        "tools": [p.tool or "question" for p in thread.approvals],
        "problem": thread.problem,
    }


def sheet_of(opened: Opened, in_hand: Collection[str] = ()) -> dict[str, Any]:
    """A thread with its conversation and everything that waits in it.

    Args:
        opened: The thread.
        in_hand: Full ids of what is being answered.
    """
    waiting = opened.waiting
    approvals: Sequence[PendingApproval] = () if waiting is None else waiting.approvals
    return {
        **(line_of(waiting) if waiting is not None else {"id": None}),
        "earlier": opened.conversation.earlier,
        "messages": [message_of(m) for m in opened.conversation.messages],
        "approvals": [
            {
                **approval_of(p),
                "together": together(approvals, p),
                "in_hand": p.full_id in in_hand,
            }
            for p in approvals
        ],
    }


def approval_of(pending: PendingApproval) -> dict[str, Any]:
    """One thing that waits, with the form to answer it."""
    is_call = pending.kind == "approval"
    forms = (
        edit_forms(pending.schema, pending.tool, pending.args) if "edit" in pending.allowed else {}
    )
    return {
        "id": pending.full_id,
        "pause": pending.interrupt_id,
        "kind": pending.kind,
        "tool": pending.tool,
        "args": {name: json_text(value) for name, value in pending.args.items()},
        "description": description_of(pending),
        "allowed": pending.allowed,
        "forms": {name: [field_of(f) for f in fields] for name, fields in forms.items()},
        "question": None if is_call else shown_text(pending.value),
        "answer": None if is_call else field_of(answer_field(pending.schema)),
    }


def description_of(pending: PendingApproval) -> str:
    """The description without the call itself, which the form shows anyway."""
    call = f"Tool: {pending.tool}\nArgs: {dict(pending.args)}"
    parts = [part for part in pending.description.split("\n\n") if part != DESCRIPTION_PREFIX]
    return "\n\n".join(parts).replace(call, "").strip()


def field_of(field: FormField) -> dict[str, Any]:
    """A field of a form."""
    default = None if field.default is None else json_text(field.default)
    return {**asdict(field), "choices": list(map(json_text, field.choices)), "default": default}


def message_of(message: BaseMessage) -> dict[str, Any]:
    """A message of the conversation."""
    text = text_of(message)
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    result = message if isinstance(message, ToolMessage) else None
    return {
        "role": message.type,
        "name": message.name,
        "text": text[:LONGEST_TEXT],
        "cut": max(0, len(text) - LONGEST_TEXT),
        "calls": [_call_of(c) for c in calls],
        "call_id": result.tool_call_id if result else None,
        "failed": result.status == "error" if result else False,
    }


def _call_of(call: ToolCall) -> dict[str, Any]:
    gist = ", ".join(" ".join(shown_text(v).split()) for v in call["args"].values())
    return {
        "id": call["id"],
        "name": call["name"],
        "gist": gist[:LONGEST_GIST],
        "text": json_text(call["args"]),
    }


def json_text(value: Any) -> str:
    """A value as JSON; what is no JSON value is written as text."""
    try:
        return json.dumps(value, default=str, ensure_ascii=False, indent=2, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(repr(value), ensure_ascii=False)


def shown_text(value: Any) -> str:
    """A value as people read it: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json_text(value)


def text_of(message: BaseMessage) -> str:
    """The text of a message, and the kind of whatever else is in it."""
    if isinstance(message.content, str):
        return message.content
    others = [b.get("type") for b in message.content if isinstance(b, dict)]
    shown = [f"[{kind}]" for kind in others if kind not in ("text", "tool_use", "reasoning")]
    return "\n".join(filter(None, [str(message.text), *shown]))
