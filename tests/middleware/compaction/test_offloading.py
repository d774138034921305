from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from interlock.middleware import FileSystemToolResultStore, ToolResultOffloadCompactor
from interlock.state.errors import ConfigurationError, StorageError

TASK = HumanMessage("task")


@pytest.fixture
def store(tmp_path: Path) -> FileSystemToolResultStore:
    return FileSystemToolResultStore(tmp_path)


def test_old_results_can_be_read_back(
    compacted: Any, step: Any, store: FileSystemToolResultStore
) -> None:
    compactor = ToolResultOffloadCompactor(store, preview_chars=5)
    messages = [TASK, *step("a", length=1000), *step("b", length=1000)]
    left = compacted(compactor, messages, 0)

    [reference] = left[2].response_metadata["tool_result_offloaded"]
    assert store.read(reference) == "a" * 1000
    assert "It begins: aaaaa..." in left[2].text
    assert reference in left[2].text
    assert left[4].text == "b" * 1000
    assert compacted(compactor, left, 0) is None


def test_offloading_stops_at_the_target(compacted: Any, step: Any, store: Any) -> None:
    messages = [TASK, *step("a", length=900), *step("b", length=900), *step("c", length=900)]
    left = compacted(ToolResultOffloadCompactor(store), messages, 2500)

    assert [len(m.text) == 900 for m in left if m.type == "tool"] == [False, True, True]


def test_errors_and_small_results_stay(compacted: Any, step: Any, store: Any) -> None:
    failed = step("e", length=900)
    failed[1] = failed[1].model_copy(update={"status": "error"})
    messages = [TASK, *failed, *step("s", length=200), *step("z")]

    assert compacted(ToolResultOffloadCompactor(store), messages, 0) is None


def test_result_that_cannot_be_stored_stays(compacted: Any, step: Any) -> None:
    class Full:
        supports_binary_content = True

        def write(self, key: str, content: str | bytes) -> str:
            msg = f"no room for {len(content)} at {key}"
            raise StorageError(msg)

        def read(self, reference: str) -> str:
            return reference

    messages = [TASK, *step("a", length=900), *step("b")]
    assert compacted(ToolResultOffloadCompactor(Full()), messages, 0) is None


@pytest.mark.parametrize(
    "settings", [{"min_keep_steps": 0}, {"min_tokens": -1}, {"preview_chars": -1}]
)
def test_wrong_numbers_are_refused(store: Any, settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        ToolResultOffloadCompactor(store, **settings)


def test_store_must_be_one() -> None:
    with pytest.raises(ConfigurationError, match="no store"):
        ToolResultOffloadCompactor("folder")  # type: ignore[arg-type] # the mistake under test
