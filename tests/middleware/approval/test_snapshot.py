"""Runs in files: data only, whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from interlock.middleware import AgentSnapshot, get_tool_calls_and_descriptions_from_snapshot
from interlock.state import StorageError, UnstorableValueError

CALLS: Any = [
    {"name": n, "args": {"to": [n]}, "id": i, "type": "tool_call"}
    for n, i in (("send", "c1"), ("burn", "c2"), ("send", "c3"))
]


def snapshot(**fields: Any) -> AgentSnapshot:
    state = {"messages": [HumanMessage("go", id="m1"), AIMessage("", id="m2", tool_calls=CALLS)]}
    defaults = {
        "point": "before_tools",
        "tool_name": "send",
        "waiting": ["c1"],
        "descriptions": {"send": "Send.", "burn": "Burn."},
    }
    return AgentSnapshot.of({**state, **fields.pop("state", {})}, **{**defaults, **fields})


def test_file_is_the_owners_alone_and_comes_back_equal(tmp_path: Path) -> None:
    path = snapshot(state={"mood": {"a": [1, None]}}).save(tmp_path / "new")
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert AgentSnapshot.load(path) == snapshot(state={"mood": {"a": [1, None]}})


def test_two_snapshots_of_one_second_do_not_meet(tmp_path: Path) -> None:
    paths = {snapshot().save(tmp_path) for _ in range(5)}
    assert len(paths) == 5
    assert sorted(tmp_path.iterdir()) == sorted(paths)


def test_name_of_the_tool_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    path = snapshot(tool_name="../../etc/passwd").save(tmp_path / "in")
    assert path.parent == tmp_path / "in"


def test_file_that_cannot_be_written_is_an_error_with_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file"):
        snapshot().save(tmp_path / "file")


@pytest.mark.parametrize("value", [object(), {1: 2}, (1, 2), float("nan"), b"x", {"a": {1}}])
def test_value_that_is_no_data_is_named(tmp_path: Path, value: Any) -> None:
    with pytest.raises(UnstorableValueError, match="'held'"):
        snapshot(state={"held": value}).save(tmp_path)
    assert list(tmp_path.iterdir()) == []


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"version": 2}, "version 2"),
    ({"version": None}, "version None"),
    ({"format": "other"}, "format"),
    ({"messages": 3}, "changed"),
    ({"messages": [{"type": "evil", "data": {}}]}, "changed"),
    ({"extra": 1}, "changed"),
]


@pytest.mark.parametrize(("change", "named"), CHANGES, ids=str)
def test_changed_file_is_refused(tmp_path: Path, change: Any, named: str) -> None:
    path = snapshot().save(tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(StorageError, match=named):
        AgentSnapshot.load(path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000])
def test_file_that_is_no_snapshot_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(StorageError):
        AgentSnapshot.load(tmp_path / "x.json")


def test_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "x.json").open("wb") as file:
        os.truncate(file.fileno(), 65 * 2**20)
    with pytest.raises(StorageError, match="larger"):
        AgentSnapshot.load(tmp_path / "x.json")


def test_waiting_calls_of_the_tool_are_shown_with_its_description() -> None:
    calls, descriptions = get_tool_calls_and_descriptions_from_snapshot(snapshot())
    assert calls == [{"tool_name": "send", "arguments": {"to": ["send"]}, "id": "c1"}]
    assert descriptions == {"send": "Send."}


def test_all_open_calls_are_shown_if_that_is_wanted() -> None:
    calls, descriptions = get_tool_calls_and_descriptions_from_snapshot(
        snapshot(), breakpoint_tool_only=False
    )
    assert [c["id"] for c in calls] == ["c1", "c2", "c3"]
    assert set(descriptions) == {"send", "burn"}


def test_what_is_shown_is_a_copy() -> None:
    shown = snapshot()
    calls, _ = get_tool_calls_and_descriptions_from_snapshot(shown)
    calls[0]["arguments"]["to"].append("x")
    assert shown.tool_calls[0]["args"] == {"to": ["send"]}


def test_run_that_stopped_elsewhere_has_nothing_to_decide() -> None:
    with pytest.raises(StorageError, match="before a tool"):
        get_tool_calls_and_descriptions_from_snapshot(
            snapshot(point="before_model", tool_name=None)
        )


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
MESSAGES = st.one_of(
    st.builds(HumanMessage, st.text(), id=st.uuids().map(str)),
    st.builds(SystemMessage, st.text(), id=st.uuids().map(str)),
    st.builds(AIMessage, st.text(), id=st.uuids().map(str)),
    st.builds(ToolMessage, st.text(), tool_call_id=st.text(min_size=1), id=st.uuids().map(str)),
)


@given(messages=st.lists(MESSAGES, max_size=4), values=st.dictionaries(st.text(), JSON, max_size=3))
def test_any_run_comes_back_equal(messages: Any, values: Any) -> None:
    before = AgentSnapshot("before_model", messages, values)
    assert AgentSnapshot.from_dict(json.loads(json.dumps(before.to_dict()))) == before
