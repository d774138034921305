from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from interlock.middleware import ToolResultPruningCompactor
from interlock.state.errors import ConfigurationError

TASK = HumanMessage("task")


def short(**settings: Any) -> ToolResultPruningCompactor:
    return ToolResultPruningCompactor(min_tokens=50, placeholder="-{tool_name}-", **settings)


def results(messages: list[Any]) -> list[str]:
    return [m.text if len(m.text) < 10 else m.text[0] for m in messages if m.type == "tool"]


def test_pruning_stops_at_the_target(compacted: Any, step: Any) -> None:
    messages = [TASK, *step("a"), *step("b"), *step("c")]

    assert results(compacted(short(), messages, 250)) == ["-a-", "b", "c"]
    assert compacted(short(), messages, 304) is None


def test_newest_steps_are_protected(compacted: Any, step: Any) -> None:
    messages = [TASK, *step("a"), *step("b"), *step("c", "d")]

    assert results(compacted(short(), messages, 0)) == ["-a-", "-b-", "c", "d"]
    assert results(compacted(short(min_keep_steps=2), messages, 0)) == ["-a-", "b", "c", "d"]
    assert compacted(short(min_keep_steps=3), messages, 0) is None


def test_small_pruned_and_offloaded_results_are_left_alone(compacted: Any, step: Any) -> None:
    offloaded = step("o")
    offloaded[1].response_metadata["tool_result_offloaded"] = ["ref"]
    messages = [TASK, *step("s", length=50), *offloaded, *step("a"), *step("z")]
    once = compacted(short(), messages, 0)

    assert [m.text[:3] for m in once if m.type == "tool"] == ["sss", "ooo", "-a-", "zzz"]
    assert compacted(short(), once, 0) is None


def test_pruned_result_still_answers_its_call(compacted: Any, step: Any) -> None:
    first = step("a")
    first[1] = first[1].model_copy(update={"status": "error", "response_metadata": {"k": 1}})
    [_, _, pruned, *_] = compacted(short(), [TASK, *first, *step("b")], 0)

    assert (pruned.tool_call_id, pruned.id, pruned.status) == ("c-a", "m-a", "error")
    assert pruned.response_metadata["k"] == 1
    mark = pruned.response_metadata["context_compaction"]
    assert mark == {"strategy": "tool_result_pruning", "original_tokens": 100}


def test_placeholder_that_saves_nothing_is_not_used(compacted: Any, step: Any) -> None:
    compactor = ToolResultPruningCompactor(min_tokens=0, placeholder="x" * 100)

    assert compacted(compactor, [TASK, *step("a"), *step("b")], 0) is None


@pytest.mark.parametrize("settings", [{"min_keep_steps": 0}, {"min_tokens": -1}])
def test_wrong_numbers_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        ToolResultPruningCompactor(**settings)
