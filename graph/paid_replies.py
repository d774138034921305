"""Replies of the model that must not be lost: counted, and kept when a layer fails behind them.

A layer around the model call may fail or pause after its handler has answered. With a checkpointer
the replies then stay with the run, and when the step runs again the same request is answered with
the same reply. They are told apart by a digest of what was sent, so another request is asked anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage

from ..state.ledger import Kept, Ledger
from .binding import Bound


class PaidReplies:
    """What the model gave in one pass through the layers, which may ask it several times."""

    __slots__ = ("_asked", "_given", "_kept", "_repeated")

    def __init__(self, kept: Sequence[Kept] = ()) -> None:
        self._kept = list(kept)
        self._asked: list[AIMessage] = []
        self._given: list[tuple[Bound, list[BaseMessage], AIMessage]] = []
        self._repeated: list[AIMessage] = []

    @property
    def repeats(self) -> bool:
        """Whether a kept reply has been given."""
        return bool(self._repeated)

    def repeat(self, bound: Bound, messages: list[BaseMessage]) -> AIMessage | None:
        """The kept reply to a request, each once; None if the model must be asked."""
        if not self._kept:
            return None
        request = digest_of(bound, messages)
        for position, kept in enumerate(self._kept):
            if kept["request"] == request:
                reply = self._kept.pop(position)["reply"].model_copy(deep=True)
                self._repeated.append(reply)
                return reply
        return None

    def asked(self, reply: AIMessage) -> None:
        """The model gave a reply."""
        self._asked.append(reply)

    def given(self, bound: Bound, messages: list[BaseMessage], reply: AIMessage) -> None:
        """A reply, read without an error, goes to the layers."""
        self._given.append((bound, messages, reply))

    def to_keep(self, *, repeated: bool) -> list[Kept]:
        """What the layers were given, as data to be stored.

        Args:
            repeated: Those that had been kept before as well.
        """
        before = () if repeated else [id(reply) for reply in self._repeated]
        return [
            {"request": digest_of(bound, messages), "reply": reply.model_copy(deep=True)}
            for bound, messages, reply in self._given
            if id(reply) not in before
        ]

    def count(self, ledger: Ledger, taken: Sequence[BaseMessage] = ()) -> None:
        """Add the usage of each reply once; one that a layer changed counts as it says now.

        Args:
            ledger: The books of the run.
            taken: The messages that the layers let through.
        """
        replies = [m for m in taken if isinstance(m, AIMessage)]
        if replies == self._asked and len(replies) == 1 and replies[0] is self._asked[0]:
            ledger.take_usage(replies[0])
            return
        known = [*self._repeated, *self._asked]
        found = {id(r): _found(r, known) for r in replies}
        taken_over = {id(reply) for reply in found.values()}
        for reply in self._asked:
            if id(reply) not in taken_over and reply.usage_metadata:
                ledger.add_usage(reply.usage_metadata)
        for reply in replies:
            before = found[id(reply)]
            # A kept one was counted when it came.
            ledger.take_usage(reply, counted=any(before is r for r in self._repeated))


def _found(reply: AIMessage, known: list[AIMessage]) -> AIMessage | None:
    """The reply of the model that a message is, or was made of; each is found once."""
    usage = reply.usage_metadata
    place = next((n for n, other in enumerate(known) if other is reply), None)
    if place is None and reply.id is not None:
        place = next((n for n, other in enumerate(known) if other.id == reply.id), None)
    if place is None and usage:
        place = next((n for n, other in enumerate(known) if other.usage_metadata == usage), None)
    return None if place is None else known.pop(place)


def digest_of(bound: Bound, messages: Sequence[BaseMessage]) -> str:
    """What tells requests apart: the model, its settings, its tools and what is sent."""
    model, tools = bound.kept[:2]
    names = [getattr(tool, "name", tool) for tool in tools]
    settings: Any = getattr(bound.runnable, "kwargs", None)
    kind = type(cast("object", model))
    sent = [
        (
            m.type,
            m.content,
            m.name,
            getattr(m, "tool_calls", None),
            getattr(m, "tool_call_id", None),
        )
        for m in messages
    ]
    identity = (f"{kind.__module__}.{kind.__qualname__}", getattr(model, "_identifying_params", {}))
    text = json.dumps([identity, settings, names, sent], sort_keys=True, default=repr)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
