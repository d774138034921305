"""What a caller gives a run, filtered by the middleware before anybody else can see it.

langgraph stores, streams and traces an input as soon as a run begins, earlier than any hook can
look at it. So what has to be kept out of storage, streams and traces is taken out here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels.binop import (
    _get_overwrite,  # pyright: ignore[reportPrivateUsage] - the notations of langgraph 1.2.24
)
from langgraph.graph import END, START
from langgraph.types import Command, Overwrite

from ..middleware.collect import middleware_name
from ..state.errors import InvalidInputError, InvalidUpdateError
from ..state.input import as_messages
from ..tools.calls import Calls, Dual

SET_ASIDE = "__pregel_interlock_set_aside"
"""Configurable key: private state that filters took out of the input. Streams, tracers and
checkpointers leave out keys that begin like langgraph's own."""


class Admission:
    """Applies ``filter_input`` of all middleware that has it, in the order of registration."""

    def __init__(self, middleware: Iterable[Any], private: frozenset[str]) -> None:
        self._filters = [
            Dual(
                f"{middleware_name(m)}.filter_input",
                sync=m.filter_input,
                asynchronous=getattr(m, "afilter_input", None),
                quick=getattr(m, "quick_hooks", False) is True,
            )
            for m in middleware
            if callable(getattr(m, "filter_input", None))
        ]
        self._private = private

    def __bool__(self) -> bool:
        return bool(self._filters)

    async def __call__(
        self, calls: Calls, messages: Sequence[BaseMessage]
    ) -> tuple[list[BaseMessage], list[tuple[str, Any]]]:
        """The messages as they may be seen, and updates of private keys.

        Raises:
            InvalidUpdateError: A filter returned neither messages nor such an update.
            PIIDetectionError: A filter refuses the input.
        """
        kept, writes = list(messages), list[tuple[str, Any]]()
        for function in self._filters:
            result: Any = await calls.call(function, kept)
            if isinstance(result, Mapping):
                update = dict(cast("Mapping[str, Any]", result))
                result = update.pop("messages", kept)
                self._check_keys(function.name, update)
                writes += update.items()
            kept = self._as_messages(function.name, result)
        return kept, writes

    async def command(self, calls: Calls, command: Command[Any]) -> Command[Any]:
        """A command with the messages that it brings filtered.

        Raises:
            InvalidInputError: What it brings are no messages.
        """
        # A dict, pairs, a model or a dataclass: all that langgraph reads.
        pairs = command._update_as_tuples()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        if all(key != "messages" for key, _ in pairs):
            return command
        update: list[tuple[str, Any]] = []
        for key, value in pairs:
            if key != "messages":
                update.append((key, value))
                continue
            replaces, inside = _get_overwrite(value)
            messages, writes = await self(calls, as_messages(inside if replaces else value))
            update += [(key, Overwrite(messages) if replaces else messages), *writes]
        return replace(command, update=update)

    def _check_keys(self, name: str, update: Mapping[str, Any]) -> None:
        for key in update:
            if key not in self._private:
                msg = (
                    f"{name} wrote state key {key!r}; besides messages a filter may write only "
                    "keys that its state_schema marks with PrivateStateAttr."
                )
                raise InvalidUpdateError(msg, owner=name, key=key)

    def _as_messages(self, name: str, result: Any) -> list[BaseMessage]:
        entries = list(cast("Sequence[Any]", result)) if isinstance(result, (list, tuple)) else None
        if entries is None or not all(isinstance(entry, BaseMessage) for entry in entries):
            msg = f"{name} returned {type(cast('object', result)).__name__}; return the list of messages."
            raise InvalidUpdateError(msg, owner=name, key="messages")
        return entries


def check_goto(command: Command[Any], nodes: Collection[str]) -> None:
    """Refuse a command that would hand a node something else than the thread's state.

    Args:
        command: The input of a run.
        nodes: The names of the graph's nodes.

    Raises:
        InvalidInputError: It leads to something that is no name of a node, a ``Send`` for example.
    """
    goto: Any = command.goto
    known = [n for n in (*nodes, END) if n != START]
    for target in cast("Sequence[Any]", goto) if isinstance(goto, (list, tuple)) else [goto]:
        if target not in known:
            named = isinstance(target, str)
            what = repr(target[:80]) if named else f"a {type(target).__name__}"
            msg = (
                f"The command goes to {what}; a run goes on with the state of its thread at "
                f"{', '.join(known)}, by name. Change the state with Command(update=...)."
            )
            raise InvalidInputError(msg, key="goto")


def set_aside(config: RunnableConfig) -> Sequence[tuple[str, Any]]:
    """The private state that filters took out of the input of a run, to be stored beside it."""
    return config.get("configurable", {}).get(SET_ASIDE) or ()
