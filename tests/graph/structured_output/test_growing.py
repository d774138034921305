from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.tool import ToolCallChunk, tool_call_chunk
from pydantic import BaseModel

from interlock.graph.structured_output import GrowingAnswer, SchemaSpec


class Score(BaseModel):
    points: int
    notes: list[str] = []


class City(BaseModel):
    name: str


def growing(*schemas: Any, native: bool = False) -> GrowingAnswer:
    return GrowingAnswer([SchemaSpec[Any](schema) for schema in schemas], native=native)


def part(args: str | None, name: str | None = None, index: int | None = 0) -> ToolCallChunk:
    return tool_call_chunk(name=name, args=args, id=None, index=index)


def calls(*parts: ToolCallChunk) -> AIMessageChunk:
    return AIMessageChunk(content="", tool_call_chunks=list(parts))


def read(answer: GrowingAnswer, *chunks: AIMessageChunk) -> list[Any]:
    return [answer.add(chunk) for chunk in chunks]


@pytest.mark.parametrize("index", [0, None])
def test_arguments_of_an_output_call_grow(index: int | None) -> None:
    chunks = [
        part(None, "Score", index),
        part('{"points": 1', None, index),
        part("2}", None, index),
    ]

    assert read(growing(Score), *map(calls, chunks)) == [None, {"points": 1}, {"points": 12}]


@pytest.mark.parametrize("first", [0, None])
def test_arguments_of_another_call_are_left_out(first: int | None) -> None:
    second = None if first is None else 1
    parts = [
        *(part("{}", "search", first), part('{"points"', "Score", second)),
        part(": 3", None, second),
    ]

    assert growing(Score).add(calls(*parts)) == {"points": 3}


def test_the_schema_of_a_union_is_told() -> None:
    answer = growing(Score, City)

    assert answer.add(calls(part('{"name": "Os', "City"))) == {"name": "Os"}
    assert answer.schema_name == "City"


def test_a_wrapped_value_is_unwrapped() -> None:
    answer = growing(list[str])

    assert answer.add(calls(part('{"value": ["on', answer.specs[0].name))) == ["on"]


@pytest.mark.parametrize(
    "content", [['{"points": ', "4"], [[{"type": "text", "text": '{"points": 4'}]]]
)
def test_text_is_an_answer_only_where_it_is_native(content: list[Any]) -> None:
    chunks = [AIMessageChunk(content=piece) for piece in content]

    assert read(growing(Score, native=True), *chunks)[-1] == {"points": 4}
    assert read(growing(Score), *chunks)[-1] is None
