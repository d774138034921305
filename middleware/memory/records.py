"""Memories: what is kept of a run's new messages, and under which key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.store.base import PutOp

from ...state.errors import InvalidUpdateError
from ..cut_points import is_real_user
from .scope import ROOT, MemoryScope, memory_namespace


@dataclass(frozen=True)
class Memory:
    """A text to be remembered."""

    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """JSON values that a search may filter by and a model may be shown."""


def new_messages(
    messages: Sequence[BaseMessage], before: str | None, given: Sequence[str]
) -> list[BaseMessage]:
    """The messages of a run: those given to it that were new, and those it made.

    Args:
        messages: The conversation when the run ends.
        before: Id of the last reply from before the run, or None.
        given: Ids of the new messages that it was given; where compaction took the reply away,
            the run begins with the first of them that is left.
    """
    ids = [message.id for message in messages]
    if before in ids and before is not None:
        return list(messages[ids.index(before) + 1 :])
    known = set(given)
    first = next((n for n, ident in enumerate(ids) if ident in known), 0)
    return list(messages[first:])


def beginning(messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """Where a run begins in its conversation: what :func:`new_messages` asks for.

    What follows the last reply is new, in a thread and where a caller sends the whole
    conversation each time.
    """
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if isinstance(message, AIMessage):
            return {"before": message.id, "given": [m.id for m in messages[position + 1 :]]}
    return {"before": None, "given": [m.id for m in messages]}


def spoken(messages: Sequence[BaseMessage], roles: Sequence[str]) -> list[BaseMessage]:
    """What people and the model said in words; no notes, summaries, calls or results."""
    kept: list[BaseMessage] = []
    for message in messages:
        wanted = role_of(message) in roles and bool(message.text.strip())
        if wanted and (isinstance(message, AIMessage) or is_real_user(message)):
            kept.append(message)
    return kept


def role_of(message: BaseMessage) -> str:
    """``user``, ``assistant`` or the type of another message."""
    return {"human": "user", "ai": "assistant"}.get(message.type, message.type)


def writes_of_messages(
    messages: Sequence[BaseMessage], scope: MemoryScope, root: tuple[str, ...] = ROOT
) -> list[PutOp]:
    """Writes that keep each message once, however often they are done."""
    return [
        _write(f"message {m.id}", Memory(m.text, {"role": role_of(m)}), [m.id], scope, root)
        for m in messages
    ]


def writes_of_memories(
    made: Any, sources: Sequence[BaseMessage], scope: MemoryScope, root: tuple[str, ...] = ROOT
) -> list[PutOp]:
    """Writes that keep what an extractor made of messages.

    Args:
        made: Texts or memories.
        sources: The messages they come from.
        scope: Whose they are.
        root: First labels of the namespace.

    Raises:
        InvalidUpdateError: Something is neither a text nor a memory.
    """
    ids = [m.id for m in sources]
    writes: list[PutOp] = []
    for entry in made or ():
        memory = Memory(entry) if isinstance(entry, str) else entry
        if not isinstance(memory, Memory) or not isinstance(memory.text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            msg = f"extract returned {entry!r}; it gives texts or Memory objects."
            raise InvalidUpdateError(msg, owner="MemoryMiddleware")
        if memory.text.strip():
            writes.append(_write(json.dumps([ids, memory.text]), memory, ids, scope, root))
    return writes


def _write(
    name: str,
    memory: Memory,
    sources: Sequence[str | None],
    scope: MemoryScope,
    root: tuple[str, ...],
) -> PutOp:
    # The same message under the same ids is the same memory: a replay writes over it.
    identity = json.dumps([name, scope.ids], sort_keys=True)
    value = {
        **scope.ids,
        "text": memory.text,
        "metadata": dict(memory.metadata),
        "sources": list(sources),
    }
    key = hashlib.sha256(identity.encode()).hexdigest()
    return PutOp(memory_namespace(scope, root), key, value, index=["text"])
