from __future__ import annotations

from typing import Any

import pytest

from interlock.graph.models.openai_compatible.tool_calls import ToolCallSlots


def fragment(
    index: Any = None, ident: Any = None, name: Any = None, arguments: Any = None
) -> dict[str, Any]:
    made: dict[str, Any] = {"function": {"name": name, "arguments": arguments}}
    if index is not None:
        made["index"] = index
    if ident is not None:
        made["id"] = ident
    return made


def put_together(*deltas: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    slots = ToolCallSlots()
    for delta in deltas:
        slots.add(delta)
    decided = slots.decide()
    assert decided.invalid == []
    return [(call["name"], call["args"]) for call in decided.valid]


TWO = [("add", {"a": 1}), ("add", {"a": 2})]


@pytest.mark.parametrize(
    "deltas",
    [
        [
            [fragment(0, "c1", "add", '{"a"')],
            [fragment(0, None, None, ": 1}")],
            [fragment(1, "c2", "add", '{"a": 2}')],
        ],
        [[fragment(0, "c1", "add", '{"a": 1}'), fragment(1, "c2", "add", '{"a": 2}')]],
        [[fragment(0, "c1", "add", '{"a": 1}')], [fragment(0, "c2", "add", '{"a": 2}')]],
        [[fragment(None, "c1", "add", '{"a": 1}')], [fragment(None, "c2", "add", '{"a": 2}')]],
        [[fragment(None, None, "add", '{"a": 1}')], [fragment(None, None, "add", '{"a": 2}')]],
        [[fragment(0, None, "add", '{"a": 1}')], [fragment(0, None, "add", '{"a": 2}')]],
        [[fragment("0", "c1", "add", '{"a": 1}')], [fragment("1", "c2", "add", '{"a": 2}')]],
        [[fragment(0, "c1", "add", {"a": 1})], [fragment(1, "c2", "add", {"a": 2})]],
        [
            [fragment(0, "c1", "add")],
            [fragment(1, "c2", "add")],
            [fragment(1, None, None, '{"a": 2}')],
            [fragment(0, None, None, '{"a": 1}')],
        ],
        [
            [fragment(None, "c1", "add", '{"a"')],
            [fragment(None, "c1", None, ": 1}")],
            [fragment(None, "c2", "add", '{"a": 2}')],
        ],
    ],
    ids=[
        "standard",
        "one delta",
        "same index",
        "no index",
        "names only",
        "same index, no ids",
        "text index",
        "decoded",
        "interleaved",
        "ids only",
    ],
)
def test_two_calls_are_told_apart(deltas: list[list[dict[str, Any]]]) -> None:
    assert put_together(*deltas) == TWO


@pytest.mark.parametrize(
    "label",
    [(0, "c1", "add"), (0, None, "add"), (None, "c1", "add"), (None, None, "add"), (0, "c1", None)],
)
def test_label_repeated_with_each_fragment_stays_one_call(label: tuple[Any, Any, Any]) -> None:
    first = fragment(0, "c1", "add", "") if label[2] is None else fragment(*label, "")
    rest = [[fragment(*label, part)] for part in ('{"a', '":', " 1}")]

    assert put_together([first], *rest) == [("add", {"a": 1})]


def test_name_in_pieces_is_joined() -> None:
    deltas = [
        [fragment(0, "c1", "get_")],
        [fragment(0, None, "weather")],
        [fragment(0, None, None, "{}")],
    ]

    assert put_together(*deltas) == [("get_weather", {})]


def test_other_ids_on_nameless_fragments_are_ignored() -> None:
    deltas = [[fragment(0, "c1", "add", '{"a"')], [fragment(0, "zzz", None, ": 1}")]]

    assert put_together(*deltas) == [("add", {"a": 1})]


@pytest.mark.parametrize("ident", [None, "", 7, "a\nb", "a\x00b", "x" * 10_000_000])
def test_unusable_id_is_replaced(ident: Any) -> None:
    slots = ToolCallSlots()
    slots.add([fragment(0, ident, "add", "{}")])
    (call,) = slots.decide().valid

    assert str(call["id"]).startswith("call_")
    assert len(str(call["id"])) < 100


def test_ids_are_unique_in_a_message() -> None:
    slots = ToolCallSlots()
    slots.add_whole([fragment(None, "c1", "add", "{}")] * 3)
    ids = [call["id"] for call in slots.decide().valid]

    assert ids[0] == "c1"
    assert len(set(ids)) == 3


def test_call_without_a_name_is_invalid() -> None:
    slots = ToolCallSlots()
    slots.add([fragment(0, "c1", None, "{}")])
    decided = slots.decide()

    assert decided.valid == []
    assert "names no tool" in str(decided.invalid[0]["error"])


def test_no_call_of_a_cut_off_answer_runs() -> None:
    slots = ToolCallSlots()
    slots.add([fragment(0, "c1", "add", '{"a": 1}'), fragment(1, "c2", "add", '{"a')])
    decided = slots.decide(cut_off="cut off")

    assert decided.valid == []
    assert [(c["args"], c["error"]) for c in decided.invalid] == [
        ('{"a": 1}', "cut off"),
        ('{"a', "cut off"),
    ]


def test_fragments_for_display_name_each_call_once() -> None:
    slots = ToolCallSlots()
    shown = slots.add([fragment(0, "c1", "add", "")]) + slots.add([fragment(0, "c1", "add", "{}")])

    assert [(c["index"], c["id"], c["name"], c["args"]) for c in shown] == [
        (0, "c1", "add", ""),
        (0, None, None, "{}"),
    ]


@pytest.mark.parametrize("entries", [None, "x", 3, [None, "x", 3], [[]], {}])
def test_nonsense_is_no_call(entries: object) -> None:
    slots = ToolCallSlots()
    slots.add(entries)

    assert all(not call["name"] for call in slots.decide().invalid)
    assert slots.decide().valid == []
