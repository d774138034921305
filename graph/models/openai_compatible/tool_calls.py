"""Tool calls out of what a provider sent, whole or in fragments.

A call is handed on as runnable only when the answer said it was complete and its arguments are
a strict JSON object; everything else becomes an invalid call with a reason for the model.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from langchain_core.messages import InvalidToolCall, ToolCall
from langchain_core.messages.tool import (
    ToolCallChunk,
    invalid_tool_call,
    tool_call,
    tool_call_chunk,
)

from .arguments import Refusal, read_arguments
from .json_value import as_list, as_object

_MAX_ID_LENGTH: Final = 4096  # gateways pack signatures into ids, so the bound is generous
_MAX_NAME_LENGTH: Final = 256
_MAX_INDEX_DIGITS: Final = 9


@dataclass
class DecidedCalls:
    """The calls of one answer, settled."""

    valid: list[ToolCall] = field(default_factory=list[ToolCall])
    """Calls that may run."""
    invalid: list[InvalidToolCall] = field(default_factory=list[InvalidToolCall])
    """Calls that may not, each with the reason."""
    extras: dict[str, Any] = field(default_factory=dict[str, Any])
    """What a provider wants back with a call (such as a signature), by call id."""


@dataclass(slots=True)
class _Slot:
    index: int
    id: str
    given_id: str | None
    name: str = ""
    fragments: list[str] = field(default_factory=list[str])
    extra: object = None

    def arguments(self) -> str:
        return "".join(self.fragments)

    def is_whole(self) -> bool:
        text = self.arguments()
        return bool(text.strip()) and not isinstance(read_arguments(text), Refusal)


class ToolCallSlots:
    """Puts fragments of tool calls together, however the provider labels them."""

    def __init__(self) -> None:
        self._slots: list[_Slot] = []
        self._by_index: dict[int, _Slot] = {}
        self._by_given_id: dict[str, _Slot] = {}

    def __len__(self) -> int:
        return len(self._slots)

    def add(self, entries: object) -> list[ToolCallChunk]:
        """Take the ``tool_calls`` of a delta or message and return them for display.

        Args:
            entries: A list of fragments; anything else counts as none.
        """
        return [self._add_fragment(entry) for entry in _objects(entries)]

    def add_whole(self, entries: object) -> None:
        """Take the ``tool_calls`` of a whole message: each entry is a call of its own."""
        for entry in _objects(entries):
            self._by_index.clear()
            self._by_given_id.clear()
            self._add_fragment({**entry, "index": len(self._slots)})

    def decide(self, *, cut_off: str | None = None) -> DecidedCalls:
        """Settle all calls.

        Args:
            cut_off: Why the answer is not complete, in words for the model; then no call of it
                may run, however complete it looks.
        """
        decided = DecidedCalls()
        for slot in self._slots:
            raw = slot.arguments()
            arguments = Refusal(cut_off) if cut_off else read_arguments(raw)
            if not slot.name and not isinstance(arguments, Refusal):
                arguments = Refusal("The call names no tool. Name one of the tools.")
            if isinstance(arguments, Refusal):
                decided.invalid.append(
                    invalid_tool_call(
                        name=slot.name or None, args=raw, id=slot.id, error=arguments.reason
                    )
                )
            else:
                decided.valid.append(tool_call(name=slot.name, args=arguments, id=slot.id))
                if slot.extra is not None:
                    decided.extras[slot.id] = slot.extra
        return decided

    def markers(self) -> list[ToolCallChunk]:
        """Return one empty fragment per call, tying its id to its index for the last chunk."""
        return [tool_call_chunk(id=slot.id, index=slot.index) for slot in self._slots]

    def _add_fragment(self, entry: dict[str, Any]) -> ToolCallChunk:
        said = as_object(entry.get("function")) or {}
        name = _name(said.get("name"))
        fragment = _fragment(said.get("arguments"))
        given_id = entry.get("id")
        if not isinstance(given_id, str) or not given_id:
            given_id = None
        index = _index(entry.get("index"))

        slot = self._find(index, given_id, name, fragment)
        opened = slot is None
        if slot is None:
            slot = self._open(index, given_id)
        if "extra_content" in entry:
            slot.extra = _sendable(entry["extra_content"])
        new_name = self._take_name(slot, name)
        if fragment:
            slot.fragments.append(fragment)
        return tool_call_chunk(
            name=new_name, args=fragment, id=slot.id if opened else None, index=slot.index
        )

    def _find(
        self, index: int | None, given_id: str | None, name: str | None, fragment: str
    ) -> _Slot | None:
        if index is not None:
            slot = self._by_index.get(index)
        elif given_id is not None:
            slot = self._by_given_id.get(given_id)
            if slot is None and name is None and self._slots:
                slot = self._slots[-1]
        else:
            slot = self._slots[-1] if self._slots else None
        if (
            slot is not None
            and name is not None
            and _starts_another(slot, given_id, name, fragment)
        ):
            return None
        return slot

    def _open(self, index: int | None, given_id: str | None) -> _Slot:
        taken = {slot.id for slot in self._slots}
        usable = (
            given_id is not None
            and len(given_id) <= _MAX_ID_LENGTH
            and given_id.isprintable()
            and given_id not in taken
        )
        slot = _Slot(
            index=len(self._slots),
            id=given_id if given_id is not None and usable else f"call_{uuid4().hex}",
            given_id=given_id,
        )
        self._slots.append(slot)
        if index is not None:
            self._by_index[index] = slot
        if given_id is not None:
            self._by_given_id[given_id] = slot
        return slot

    @staticmethod
    def _take_name(slot: _Slot, name: str | None) -> str | None:
        """Add a name to the call; return what is new of it. Some servers send it in pieces."""
        if name is None or name == slot.name or (slot.name and slot.fragments):
            return None
        slot.name += name
        return name


def _starts_another(slot: _Slot, given_id: str | None, name: str, fragment: str) -> bool:
    """Tell whether a named fragment begins a new call although its label is in use.

    Servers that give every call index 0 change the id; servers that give no ids repeat the name
    with each fragment, so there only arguments after a complete object show a new call.
    """
    if given_id is not None and slot.given_id is not None:
        return given_id != slot.given_id
    if not slot.name or not slot.fragments:
        return False
    return name != slot.name or (bool(fragment.strip()) and slot.is_whole())


def _objects(entries: object) -> list[dict[str, Any]]:
    """Return the entries that are objects; a lone object counts as a list of one."""
    alone = as_object(entries)
    if alone is not None:
        return [alone]
    return [entry for item in as_list(entries) or [] if (entry := as_object(item)) is not None]


def _index(value: object) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) <= _MAX_INDEX_DIGITS:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _name(value: object) -> str | None:
    if not isinstance(value, str) or not value:
        return None
    return value[:_MAX_NAME_LENGTH]


def _fragment(value: object) -> str:
    """Return the arguments as text; servers also send them decoded."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (RecursionError, TypeError, ValueError):
        return str(type(value))


def _sendable(value: object) -> object:
    """Return what can go back to the provider; servers send NaN, which no JSON may hold."""
    try:
        json.dumps(value, allow_nan=False)
    except (RecursionError, ValueError):
        return None
    return value


def legacy_function_call(message: dict[str, Any]) -> object:
    """Return the entries of ``tool_calls``, or the older ``function_call`` as one of them."""
    entries = message.get("tool_calls")
    legacy = as_object(message.get("function_call"))
    if not entries and legacy is not None:
        return [{"index": 0, "function": legacy}]
    return entries
