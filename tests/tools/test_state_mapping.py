from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from interlock.state import ToolDefinitionError, ToolExecutionError
from interlock.state.reducers import HandledBy
from interlock.tools.state_mapping import check_state_keys, mapping_of, shown_result, state_updates


class Found(BaseModel):
    docs: list[str]
    count: int


@dataclass
class Place:
    docs: list[str]
    count: int


def tool_with(**declared: Any) -> Any:
    return SimpleNamespace(name="search", **declared)


def blocks(result: Any) -> list[Any]:  # noqa: ARG001 - any result
    return [{"type": "text", "text": "x"}]


def join(current: Any, new: Any) -> Any:
    return f"{current}{new}"


RESULTS = [
    {"docs": ["a"], "count": 1},
    Found(docs=["a"], count=1),
    Place(docs=["a"], count=1),
]


@pytest.mark.parametrize("result", RESULTS, ids=["dict", "model", "dataclass"])
def test_parts_of_a_result_go_to_their_keys(result: Any) -> None:
    mapping = mapping_of(
        tool_with(
            outputs_to_state={"found": {"source": "docs"}, "n": {"source": "count"}, "all": {}}
        )
    )
    assert state_updates(mapping, result) == {"found": ["a"], "n": 1, "all": result}


@pytest.mark.parametrize("result", ["text", None, 7, ["docs"], {"other": 1}])
def test_a_part_that_is_missing_updates_nothing(result: Any) -> None:
    mapping = mapping_of(tool_with(outputs_to_state={"found": {"source": "docs"}}))
    assert state_updates(mapping, result) == {}


def test_a_part_that_is_there_and_none_is_given() -> None:
    mapping = mapping_of(tool_with(outputs_to_state={"found": {"source": "docs"}}))
    assert state_updates(mapping, {"docs": None}) == {"found": None}


def test_a_handler_of_the_tool_goes_with_its_value() -> None:
    mapping = mapping_of(tool_with(outputs_to_state={"n": {"source": "count", "handler": join}}))
    assert state_updates(mapping, {"count": 1}) == {"n": HandledBy(1, join)}
    assert mapping.replaced == {"n"}


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (None, {"docs": ["a"], "count": 1}),
        ({}, {"docs": ["a"], "count": 1}),
        ({"source": "docs"}, ["a"]),
        ({"source": "count", "handler": "{} found".format}, "1 found"),
        ({"handler": sorted}, ["count", "docs"]),
        (
            {"what": {"source": "docs"}, "how many": {"source": "count", "handler": str}},
            {"what": ["a"], "how many": "1"},
        ),
        (
            {"handler": blocks, "raw_result": True},
            [{"type": "text", "text": "x"}],
        ),
    ],
    ids=range(7),
)
def test_what_the_model_reads_is_chosen(shown: Any, expected: Any) -> None:
    mapping = mapping_of(tool_with(outputs_to_string=shown))
    assert shown_result("search", mapping, {"docs": ["a"], "count": 1}) == expected


def test_a_part_that_is_to_be_shown_must_be_there() -> None:
    mapping = mapping_of(tool_with(outputs_to_string={"source": "dcs"}))
    with pytest.raises(ToolExecutionError, match=r"'search' is to show 'dcs'.*'docs', 'count'"):
        shown_result("search", mapping, {"docs": ["a"], "count": 1})


def test_a_result_as_it_stands_must_be_content() -> None:
    mapping = mapping_of(tool_with(outputs_to_string={"source": "count", "raw_result": True}))
    with pytest.raises(ToolExecutionError, match="give text or content blocks"):
        shown_result("search", mapping, {"count": 1})


def test_a_tool_without_declarations_changes_nothing() -> None:
    mapping = mapping_of(object())
    assert (mapping.inputs, mapping.outputs, shown_result("t", mapping, 7)) == ({}, {}, 7)


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ({"inputs_from_state": ["docs"]}, "inputs_from_state is .* give a dict by name"),
        ({"inputs_from_state": {"docs": 7}}, r"inputs_from_state\['docs'\] is 7"),
        ({"inputs_from_state": {"docs": ""}}, "give the name of an argument"),
        ({"inputs_from_state": {"a": "x", "b": "x"}}, "fills x from two state keys"),
        ({"outputs_to_state": {7: {}}}, "give a dict by name"),
        ({"outputs_to_state": {"docs": "found"}}, r"outputs_to_state\['docs'\] is 'found'"),
        ({"outputs_to_state": {"docs": {"source": 7}}}, "has the source 7"),
        ({"outputs_to_state": {"docs": {"handler": "merge"}}}, "has the handler 'merge'"),
        ({"outputs_to_state": {"docs": {"sorce": "x"}}}, r"has 'sorce'.*Did you mean 'source'\?"),
        ({"outputs_to_string": {"source": 7}}, "outputs_to_string has the source 7"),
        ({"outputs_to_string": {"raw_result": "yes"}}, "raw_result 'yes'"),
        ({"outputs_to_string": {"what": "docs"}}, r"outputs_to_string\['what'\] is 'docs'"),
    ],
    ids=range(12),
)
def test_a_declaration_that_cannot_be_used_is_named(declared: Any, why: str) -> None:
    with pytest.raises(ToolDefinitionError, match=f"Tool 'search': .*{why}") as caught:
        mapping_of(tool_with(**declared))
    assert caught.value.tool_name == "search"


@pytest.mark.parametrize(
    "declared", [{"inputs_from_state": {"dcs": "x"}}, {"outputs_to_state": {"dcs": {}}}]
)
def test_a_state_key_that_is_not_there_is_named(declared: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=r"'search'.*'dcs'.*Did you mean 'docs'\?"):
        check_state_keys([tool_with(**declared)], ["docs"], ["docs"])


def test_a_key_of_the_run_can_be_read_only() -> None:
    reads: Any
    writes: Any
    reads, writes = (
        {"inputs_from_state": {"step_count": "n"}},
        {"outputs_to_state": {"step_count": {}}},
    )
    check_state_keys([tool_with(**reads)], ["docs", "step_count"], ["docs"])
    with pytest.raises(ToolDefinitionError, match="'step_count'"):
        check_state_keys([tool_with(**writes)], ["docs", "step_count"], ["docs"])
