from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, NotRequired, TypeVar

import pytest
from pydantic import (
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    field_validator,
    model_validator,
)
from typing_extensions import TypeAliasType, TypedDict

from interlock.graph.structured_output import SchemaMismatchError, SchemaSpec
from interlock.state.errors import ConfigurationError

T = TypeVar("T")


class Color(Enum):
    RED = "red"


class Empty(Enum):
    pass


class Tree(BaseModel):
    """A tree."""

    value: int
    branches: list[Tree] = []


class Page(BaseModel, Generic[T]):
    """A page."""

    items: list[T]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Home(BaseModel):
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]]


class Aliased(BaseModel):
    size: int = Field(alias="Size")
    deep: int = Field(validation_alias=AliasPath("in", "deep"))


class StrictDay(BaseModel):
    model_config = ConfigDict(strict=True)
    day: date
    color: Color
    pair: tuple[int, int]


@dataclasses.dataclass
class Point:
    x: int
    y: Decimal = Decimal(0)


class Movie(TypedDict):
    """A film."""

    name: str
    year: NotRequired[int]


class Span(NamedTuple):
    start: int
    end: int


Json = TypeAliasType("Json", "dict[str, Json] | list[Json] | str | int | None")
UserId = NewType("UserId", int)


@pytest.mark.parametrize(
    ("schema", "answer", "value"),
    [
        (Tree, {"value": 1, "branches": [{"value": 2}]}, Tree(value=1, branches=[Tree(value=2)])),
        (Page[Point], {"items": [{"x": 1}]}, Page[Point](items=[Point(1)])),
        (
            Home,
            {"pets": [{"kind": "dog", "name": "Rex"}]},
            Home(pets=[Dog(kind="dog", name="Rex")]),
        ),
        (
            StrictDay,
            {"day": "2026-01-31", "color": "red", "pair": [1, 2]},
            StrictDay(day=date(2026, 1, 31), color=Color.RED, pair=(1, 2)),
        ),
        (Point, {"x": 1, "y": 0.1}, Point(1, Decimal("0.1"))),
        (Movie, {"name": "M"}, {"name": "M"}),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (RootModel[dict[str, int]], {"a": 1}, RootModel[dict[str, int]]({"a": 1})),
        (Color, {"value": "red"}, Color.RED),
        (list[Point], {"value": [{"x": 1}]}, [Point(1)]),
        (Span, {"value": [1, 2]}, Span(1, 2)),
        (Literal["a", 1], {"value": 1}, 1),
        (int, {"value": 3}, 3),
        (UserId, {"value": 3}, 3),
        (Annotated[int, Field(gt=2)], {"value": 3}, 3),
        (Json, {"value": {"a": [1, None]}}, {"a": [1, None]}),
        (Any, {"value": [1]}, [1]),
        ({"type": "array", "items": {"type": "integer"}}, {"value": [1]}, [1]),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 1}, {"a": 1}),
    ],
)
def test_answer_becomes_the_users_object(schema: Any, answer: Any, value: object) -> None:
    assert SchemaSpec[Any](schema).validate(answer) == value


@pytest.mark.parametrize(
    ("schema", "name", "kind"),
    [
        (Tree, "Tree", "pydantic"),
        (Page[int], "Page_int", "pydantic"),
        (Point, "Point", "dataclass"),
        (Movie, "Movie", "typeddict"),
        (list[Point], "list_Point", "type"),
        (Literal["a"], "choice", "type"),
        (Annotated[Cat | Dog, Field(discriminator="kind")], "Cat_or_Dog", "type"),
        ({"title": "My schema", "type": "object"}, "My_schema", "json_schema"),
        ({"type": "object"}, "response_format", "json_schema"),
    ],
)
def test_schema_has_a_name_for_providers(schema: Any, name: str, kind: str) -> None:
    spec = SchemaSpec[Any](schema)

    assert (spec.name, spec.schema_kind) == (name, kind)


@pytest.mark.parametrize(
    ("schema", "description"),
    [
        (Page[int], "A page."),
        (Movie, "A film."),
        (Point, ""),
        (Cat, ""),
        ({"type": "object", "description": "told"}, "told"),
        (list[int], "Gives the answer: list[int]."),
    ],
)
def test_description_is_what_the_user_wrote(schema: Any, description: str) -> None:
    assert SchemaSpec[Any](schema).description == description


def test_answer_by_alias_and_by_name_of_a_path_is_taken() -> None:
    value = SchemaSpec[Aliased](Aliased).validate({"Size": 1, "deep": 2})

    assert isinstance(value, Aliased)
    assert (value.size, value.deep) == (1, 2)


def test_wrapping_that_the_model_left_out_does_no_harm() -> None:
    assert SchemaSpec[Any](list[int]).validate([1, 2]) == [1, 2]


@pytest.mark.parametrize(
    ("schema", "answer", "said"),
    [
        (list[int], {"value": ["x"]}, "value[0]: "),
        (list[int], {"values": [1]}, "value: this field is missing"),
        (Tree, [1], "an object is due"),
        ({"type": "array", "maxItems": 0}, {"value": [1]}, "value: "),
    ],
)
def test_mismatch_says_where_and_what(schema: Any, answer: object, said: str) -> None:
    with pytest.raises(SchemaMismatchError) as caught:
        SchemaSpec[Any](schema).validate(answer)

    assert said in str(caught.value)


def test_validator_that_breaks_is_a_mismatch_without_its_text() -> None:
    class Broken(BaseModel):
        n: int

        @field_validator("n")
        @classmethod
        def fail(cls, n: int) -> float:
            return n / 0

    with pytest.raises(SchemaMismatchError, match="ZeroDivisionError") as caught:
        SchemaSpec(Broken).validate({"n": 1})
    assert "division by zero" not in str(caught.value)


def test_validator_of_a_whole_model_is_applied() -> None:
    class Range(BaseModel):
        low: int
        high: int

        @model_validator(mode="after")
        def ordered(self) -> Range:
            if self.low > self.high:
                msg = "low is above high"
                raise ValueError(msg)
            return self

    with pytest.raises(SchemaMismatchError, match=r"the whole answer: .*low is above high"):
        SchemaSpec(Range).validate({"low": 2, "high": 1})


class Unresolved(BaseModel):
    field: Missing  # type: ignore[name-defined]  # noqa: F821  # pyright: ignore[reportUndefinedVariable]


class Calling(BaseModel):
    function: Callable[[int], int]


class Unknown:
    pass


@pytest.mark.parametrize(
    "schema",
    [
        Unresolved,
        Calling,
        list[Unknown],
        Empty,
        None,
        type(None),
        "Tree",
        3,
        [Cat, Dog],
        lambda: 1,
        object(),
    ],
)
def test_what_is_no_schema_is_refused_with_the_ways_out(schema: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        SchemaSpec[Any](schema)

    assert "errors.pydantic.dev" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_default_that_is_no_json_gives_no_warning() -> None:
    class Odd(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        n: Any = object()

    assert SchemaSpec(Odd).json_schema["properties"] == {"n": {"title": "N"}}


def test_partial_answer_is_unwrapped() -> None:
    assert SchemaSpec[Any](list[str]).partial('{"value": ["on", "tw') == ["on", "tw"]
    assert SchemaSpec[Any](list[str]).partial("{") is None
    assert SchemaSpec(Tree).partial('{"value": 1, "bra') == {"value": 1}


def test_reader_of_json_schemas_is_imported_only_for_them() -> None:
    program = (
        "import sys; from interlock.graph.structured_output import ToolStrategy as S;"
        "reader = 'interlock.graph.structured_output.json_schema';"
        "S(int); assert reader not in sys.modules;"
        "S({'type': 'object'}); assert reader in sys.modules"
    )
    subprocess.run([sys.executable, "-P", "-c", program], check=True)
