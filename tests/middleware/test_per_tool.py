from __future__ import annotations

from typing import Any

import pytest

from interlock.middleware.per_tool import PerTool
from interlock.state.errors import ConfigurationError


def test_own_entry_goes_before_a_tuple_and_a_tuple_before_the_wildcard() -> None:
    found = PerTool({"*": 1, ("a", "b"): 2, "a": 3}, "limits")

    assert [found.of(name) for name in ("a", "b", "c")] == [3, 2, 1]


def test_tool_without_an_entry_has_no_setting() -> None:
    assert PerTool({"a": 1}, "limits").of("b") is None
    assert PerTool[int]({}, "limits").of("*") is None


def test_setting_may_be_nothing_for_one_tool() -> None:
    assert PerTool({"*": 1, "a": None}, "limits").of("a") is None


@pytest.mark.parametrize("key", ["", " ", (), ("a", ""), 5, None, frozenset({"a"})])
def test_key_that_names_no_tool_is_refused(key: Any) -> None:
    with pytest.raises(ConfigurationError, match="limits"):
        PerTool({key: 1}, "limits")


@pytest.mark.parametrize("keys", [[("a", "b"), ("b", "c")], [("a", "*")], [("a", "a")]])
def test_tool_in_two_tuples_is_refused(keys: Any) -> None:
    with pytest.raises(ConfigurationError, match="one entry"):
        PerTool(dict.fromkeys(keys, 1), "limits")
