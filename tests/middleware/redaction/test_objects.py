"""Sensitive data in values that are neither text nor plain data."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from pydantic import BaseModel, ConfigDict, PrivateAttr

from interlock.middleware.redaction.surfaces import change_message, change_value

CARD = 4111111111111111


def hide(text: str) -> str:
    return text.replace("secret", "[X]").replace(str(CARD), "[N]")


@dataclass
class Plain:
    said: str
    inner: Any = None
    made: str = field(init=False, default="secret")


@dataclass(frozen=True, slots=True)
class Slotted:
    said: str


class Model(BaseModel):
    model_config = ConfigDict(extra="allow")

    said: str
    inner: list[Any] = []
    _hidden: str = PrivateAttr("secret")


class Pair(NamedTuple):
    a: Any
    b: Any


class Unknown:
    """Nobody knows what is in it."""

    def __init__(self) -> None:
        self.said = "secret"

    def __eq__(self, other: object) -> bool:
        msg = "as arrays, it cannot be compared"
        raise ValueError(msg)

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("value", "new"),
    [
        ({"secret"}, {"[X]"}),
        (frozenset({("secret", 1)}), frozenset({("[X]", 1)})),
        (deque(["secret"]), deque(["[X]"])),
        (Pair("secret", 1), Pair("[X]", 1)),
        (MappingProxyType({"a": "secret"}), {"a": "[X]"}),
        (b"a secret", b"a [X]"),
        (bytearray(b"a secret"), b"a [X]"),
        (Slotted("secret"), Slotted("[X]")),
        (Document("secret", metadata={"a": "secret"}), Document("[X]", metadata={"a": "[X]"})),
        (float(CARD), "[N]"),
        (Decimal(CARD), "[N]"),
        (Path("/home/secret"), "/home/[X]"),
        ([{"deep": {Slotted("secret")}}], [{"deep": {Slotted("[X]")}}]),
    ],
)
def test_texts_inside_of_objects_are_changed(value: Any, new: Any) -> None:
    assert change_value(value, hide) == new


def test_every_attribute_of_a_dataclass_is_changed_in_a_copy() -> None:
    value = Plain("secret", inner=Slotted("secret"))
    vars(value)["more"] = "secret"

    new = change_value(value, hide)

    assert vars(new) == {"said": "[X]", "inner": Slotted("[X]"), "made": "[X]", "more": "[X]"}
    assert (value.said, value.made) == ("secret", "secret")


def test_every_attribute_of_a_model_is_changed_in_a_copy() -> None:
    value = Model(said="secret", inner=[Model(said="secret")], more="secret")  # type: ignore[call-arg]

    new = change_value(value, hide)

    assert new.__pydantic_private__ == new.inner[0].__pydantic_private__ == {"_hidden": "[X]"}
    assert (new.said, new.inner[0].said, new.model_extra) == ("[X]", "[X]", {"more": "[X]"})
    assert (value.said, value.model_extra) == ("secret", {"more": "secret"})


SAME: list[Any] = [
    *({"x"}, b"plain", b"\xff\xfesecret", Slotted("x"), Path("x"), (Pair(1, 2), deque([1]))),
    *(2.5, 1e30, float("nan"), Decimal("1.5"), 10**5_000, Unknown(), Model),
]


@pytest.mark.parametrize("place", range(len(SAME)))
def test_object_without_anything_to_change_is_the_same(place: int) -> None:
    assert change_value(SAME[place], hide) is SAME[place]


WITHHELD: list[Any] = [Unknown(), 10**5_000, object(), (n for n in "a")]


@pytest.mark.parametrize("place", range(len(WITHHELD)))
def test_artifact_that_cannot_be_searched_is_withheld(place: int) -> None:
    value = WITHHELD[place]
    message = ToolMessage("ok", artifact={"rows": [value]}, tool_call_id="c1")

    new = change_message(message, hide)

    note = f"[withheld: a value of type {type(value).__name__} cannot be searched]"
    assert new.artifact == {"rows": [note]}
    assert change_message(ToolMessage("", artifact=value, tool_call_id="c"), hide).artifact == note
