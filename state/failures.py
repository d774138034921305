"""Failures of a run on their way to the ``on_error`` hooks.

An exception cannot be stored: what a thread keeps of it is its type's name and its text. Within
one process the exception itself goes along beside that, in a channel that is never stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.channels.untracked_value import UntrackedValue

from .errors import RunError

Record = dict[str, Any]
"""What a thread keeps of a failure: ``{"type", "text"}``, its ``notes`` and, of a tool call that
failed, its ``call``."""


@dataclass(frozen=True)
class Failure:
    """A failure on its way to the next superstep of the same process."""

    error: Exception
    call: str | None = None
    """Id of the tool call that failed."""
    told: bool = False
    """The hooks know it and none has answered: it ends the run."""


class RestoredError(RunError):
    """A failure that was stored, in the words of the original.

    It stands for the exception where that is gone: a pause in ``on_error``, or a crash, and the
    run goes on in another call of the agent. If the original's class is loaded it is an instance
    of that class, too, with the original's text but without its other attributes.
    """

    def __init__(self, message: str, *, type_name: str, text: str) -> None:
        super().__init__(message)
        self.type_name = type_name
        """Fully qualified name of the original's class."""
        self.text = text
        """What the original said."""


class Carried(UntrackedValue[Any]):
    """The failures that the superstep before gave on; never stored, and gone after one step."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        """Take the lists that tasks wrote; without any, forget those of the step before."""
        if values:
            return super().update([[entry for value in values for entry in value]])
        was_there = self.is_available()
        # That of a channel that was never written.
        self.value = type(self)(self.typ, self.guard).value
        return was_there


class CallRecords(EphemeralValue[Any]):
    """What is stored of the calls that failed in the step before, a list by all of its tasks."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        """Take the lists that tasks wrote; without any, forget those of the step before."""
        return super().update([[entry for value in values for entry in value]] if values else [])


def record_of(error: Exception, call: str | None = None) -> Record:
    """What a thread keeps of a failure."""
    if isinstance(error, RestoredError):
        record: Record = {"type": error.type_name, "text": error.text}
    else:
        kind = type(error)
        record = {"type": f"{kind.__module__}.{kind.__qualname__}", "text": _text_of(error)}
    if notes := [str(note) for note in getattr(error, "__notes__", ())]:
        record["notes"] = notes
    return record if call is None else {**record, "call": call}


def restored(record: Mapping[str, Any]) -> RestoredError:
    """The error that stands for a stored failure."""
    name, text = record["type"], record["text"]
    error = _in_its_class(name, text)
    if error is None:
        error = RestoredError(f"{name}: {text}", type_name=name, text=text)
    for note in record.get("notes", ()):
        error.add_note(note)
    return error


def is_record(value: Any) -> bool:
    """Whether stored data is what :func:`record_of` makes."""
    if not isinstance(value, dict):
        return False
    record = cast("dict[Any, Any]", value)
    notes = record.get("notes", [])
    texts = (record.get("type"), record.get("text"), record.get("call", ""))
    return (
        record.keys() <= {"type", "text", "notes", "call"}
        and all(isinstance(text, str) for text in texts)
        and isinstance(notes, list)
        and all(isinstance(note, str) for note in cast("list[Any]", notes))
    )


def are_records(value: Any) -> bool:
    """Whether stored data is a list of such records."""
    return isinstance(value, list) and all(map(is_record, cast("list[Any]", value)))


def is_failing(value: Any) -> bool:
    """Whether stored data says which failures hooks are still to be told, and of which."""
    if not isinstance(value, dict):
        return False
    failing = cast("dict[Any, Any]", value)
    if failing.keys() != _FAILING.keys():
        return False
    known = all(form(failing[name]) for name, form in _FAILING.items())
    return known and max(failing["position"], failing["missed"] or 0) < len(failing["errors"])


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_place(value: Any) -> bool:
    match _parts(value):
        case [phase, index]:
            return _is_text(phase) and _is_count(index)
        case _:
            return False


def _is_jump(value: Any) -> bool:
    match _parts(value):
        case [owner, target, allowed, reason]:
            declared = allowed is None or isinstance(allowed, (list, tuple))
            texts = (owner, target, reason or "", *_parts(allowed))
            return declared and all(map(_is_text, texts))
        case _:
            return value is None


def _parts(value: Any) -> list[Any]:
    return list(cast("Iterable[Any]", value)) if isinstance(value, (list, tuple)) else []


_FAILING: Mapping[str, Callable[[Any], bool]] = {
    "place": _is_place,
    "errors": are_records,
    "position": _is_count,
    "index": _is_count,
    "answered": lambda value: type(value) is bool,
    "missed": lambda value: value is None or _is_count(value),
    "jump": _is_jump,
}
"""What each part may be."""


def _text_of(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - whatever its class does, the run is to go on
        return "(its text cannot be read)"


def _in_its_class(name: str, text: str) -> RestoredError | None:
    """An error that is one of the original's class, too, if that is loaded and can be derived."""
    kind = next((k for k in _loaded(Exception) if f"{k.__module__}.{k.__qualname__}" == name), None)
    if kind is None:
        return None
    try:
        made = _restored_class(cast("Any", kind))
        # Not through its constructor, which may ask for more than a text.
        error = cast("RestoredError", cast("Any", kind).__new__(made, text))
        error.args, error.type_name, error.text = (text,), name, text
    except Exception:  # noqa: BLE001 - the class may be anything
        return None
    return error


@lru_cache(maxsize=64)
def _restored_class(kind: type[Exception]) -> type[RestoredError]:
    says: Callable[[Any], str] = lambda self: self.text  # noqa: E731
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__str__": says}
    return cast("type[RestoredError]", type(kind.__name__, (RestoredError, kind), names))


def _loaded(kind: type[Exception]) -> list[type[Exception]]:
    """The class and those derived from it, as far as the program has loaded them."""
    found, waiting = [kind], [kind]
    seen = {kind}
    while waiting:
        # Of a class by itself, as ``type`` has a method of this name that takes an argument.
        for derived in type.__subclasses__(waiting.pop()):
            if derived not in seen and not issubclass(derived, RestoredError):
                seen.add(derived)
                found.append(derived)
                waiting.append(derived)
    return found
