"""What a thread remembers of verdicts, so that a pause has none given twice.

A record belongs to one exact value: its key covers the id of the message or call and all that was
checked. So an answer to a question counts for what the question was about, and for nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Any, Literal, NotRequired, cast

from langchain_core.messages import BaseMessage
from langgraph.types import interrupt
from typing_extensions import TypedDict

from ...state.schema import AgentState, PrivateStateAttr
from ...state.stored_run import unreadable
from ..message_text import text_of
from .verdict import Kind, Verdict, allow, block

VERDICTS = "guardrail_verdicts"
"""The private state key."""

_KINDS = frozenset({"allow", "revise", "block", "ask", "new"})

REFUSED = "A reviewer refused this."
MOST = 1_000
"""Records that a guardrail keeps in a thread, the latest."""


class Record(TypedDict):
    """A verdict as it is stored."""

    kind: Literal["allow", "revise", "block", "ask", "new"]
    """The kind of the verdict; ``new`` if none is given yet."""
    value: NotRequired[Any]
    """Of ``revise``, what takes the place; of ``ask``, what a person is shown."""
    reason: NotRequired[str]
    item: NotRequired[str]
    """Of ``ask``, the id of the message or call in question."""


Records = Mapping[str, "Record | None"]
"""Records by key; None removes one."""


def merge_verdicts(
    current: dict[str, dict[str, Record]] | None, new: Mapping[str, Records] | None
) -> dict[str, dict[str, Record]]:
    """Both records of all guardrails, the later ones counting."""
    merged = dict(current or {})
    for name, records in (new or {}).items():
        both = {**merged.get(name, {}), **records}
        kept = {key: record for key, record in both.items() if record is not None}
        merged[name] = dict(islice(kept.items(), max(0, len(kept) - MOST), None))
    return {name: records for name, records in merged.items() if records}


class GuardState(AgentState[Any]):
    """State of an agent with guardrails made of checks."""

    guardrail_verdicts: NotRequired[
        Annotated[dict[str, dict[str, Record]], PrivateStateAttr, merge_verdicts]
    ]
    """Records by the name of the guardrail."""


def record(verdict: Verdict, item: str | None = None, shown: Any = None) -> Record:
    """A verdict in the form that is stored.

    Args:
        verdict: The verdict.
        item: Of ``ask``, the id of what is in question.
        shown: Of ``ask``, what a person is shown.
    """
    made = Record(kind=verdict.kind)
    if verdict.kind == "revise":
        made["value"] = verdict.value
    if verdict.reason:
        made["reason"] = verdict.reason
    if verdict.kind == "ask":
        made["value"], made["item"] = shown, item or ""
    return made


def verdict_of(stored: Record) -> Verdict:
    """The verdict that a record holds."""
    return Verdict(cast("Kind", stored["kind"]), stored.get("value"), stored.get("reason", ""))


def key_of(*parts: Any) -> str:
    """The key of what was checked: ids, and all of the value."""
    text = json.dumps(parts, sort_keys=True, default=repr)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def message_key(message: BaseMessage) -> str:
    """The key of a message's text."""
    return key_of(message.id, text_of(message))


def put_to_person(guardrail: str, surface: str, stored: Record) -> Verdict:
    """Ask a person about what a record is about: their answer as a verdict.

    Raises:
        GraphInterrupt: The run pauses until the answer comes.
    """
    answer = interrupt(
        {
            "guardrail": guardrail,
            "question": stored.get("reason", ""),
            "value": stored.get("value"),
            "on": surface,
            "item": stored.get("item", ""),
        }
    )
    return allow() if answer is True or answer == "approve" else block(REFUSED)


def records_in(state: Any, name: str) -> dict[str, Record]:
    """The records of one guardrail.

    Raises:
        StorageError: The thread holds something else.
    """
    stored: Any = cast("Mapping[str, Any]", state).get(VERDICTS) if _is_dict(state) else None
    if not stored:
        return {}
    own: Any = stored.get(name, {}) if _is_dict(stored) else None
    if not _is_dict(own) or not all(map(_is_record, own.values())):
        raise unreadable(VERDICTS, name)
    return cast("dict[str, Record]", own)


def _is_dict(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_record(value: Any) -> bool:
    """Whether a stored value is a record; a change of arguments is a dict of them."""
    if not _is_dict(value) or value.get("kind") not in _KINDS:
        return False
    words = [value.get("reason", ""), value.get("item", "")]
    revised = value["kind"] != "revise" or isinstance(value.get("value"), (str, Mapping))
    return revised and all(isinstance(word, str) for word in words)
