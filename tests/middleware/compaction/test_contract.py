from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import HumanMessage

from interlock.middleware import (
    FileSystemToolResultStore,
    SlidingWindowCompactor,
    SummarizationCompactor,
    ToolResultOffloadCompactor,
    ToolResultPruningCompactor,
)
from interlock.middleware.compaction.contract import check_at_least, note_data, omission_note
from interlock.middleware.cut_points import is_real_user, unread_start
from interlock.state.errors import ConfigurationError

Make = Callable[[int, Path], Any]

COMPACTORS: dict[str, Make] = {
    "window": lambda keep, _: SlidingWindowCompactor(min_keep_steps=keep),
    "silent window": lambda keep, _: SlidingWindowCompactor(
        min_keep_steps=keep, omission_note=None
    ),
    "pruning": lambda keep, _: ToolResultPruningCompactor(
        min_keep_steps=keep + 1, min_tokens=10, placeholder="-"
    ),
    "summaries": lambda keep, _: SummarizationCompactor(
        FakeListChatModel(responses=["S"]), min_keep_steps=keep, approximate_summary_tokens=30
    ),
    "offloading": lambda keep, path: ToolResultOffloadCompactor(
        FileSystemToolResultStore(path), min_keep_steps=keep + 1, min_tokens=10, preview_chars=0
    ),
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.mark.parametrize("make", COMPACTORS.values(), ids=COMPACTORS.keys())
@given(data=st.data(), keep=st.integers(0, 3), target=st.integers(0, 2000))
def test_every_compactor_keeps_the_contract(
    compacted: Any,
    histories: Any,
    faults: Any,
    size: Any,
    folder: Path,
    make: Make,
    data: Any,
    keep: int,
    target: int,
) -> None:
    messages = data.draw(histories(complete=data.draw(st.booleans())))
    before = [m.model_copy(deep=True) for m in messages]
    compactor = make(keep, folder)
    left = compacted(compactor, messages, target)

    assert messages == before
    if left is None:
        return
    assert size(left) < size(messages)
    assert faults(left) == []
    assert [m for m in left if is_real_user(m)][-1].text == "the task"
    unread = messages[unread_start(messages) or len(messages) :]
    assert left[len(left) - len(unread) :] == unread
    assert compacted(compactor, left, target) is None


def test_note_says_which_strategy_left_it() -> None:
    note = omission_note("gone", "window", 3)

    assert note_data(note, "window") == {"strategy": "window", "removed_messages": 3}
    assert note_data(note, "other") is None
    assert note_data(HumanMessage("x"), "window") is None
    assert not is_real_user(note)


@pytest.mark.parametrize("value", [0, True, 1.5, "2", None])
def test_number_that_is_too_small_or_none_is_refused(value: Any) -> None:
    with pytest.raises(ConfigurationError, match="limit"):
        check_at_least("limit", value, 1)
