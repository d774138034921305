"""What a program lets a file name."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.tools import BaseTool

from interlock.graph.serialization import Registry
from interlock.state import ConfigurationError
from interlock.tools import tool


@tool
def search(query: str) -> str:
    """Search."""
    return query


def note(state: Any) -> None:
    del state


class Shape:
    pass


def test_values_have_their_own_names() -> None:
    registry = Registry(search, note, Shape)
    assert [registry.name_of(v) for v in (search, note, Shape)] == ["search", "note", "Shape"]
    assert registry.get("search", "tools") is search
    assert registry.types == {"Shape": Shape}


def test_a_value_may_be_given_another_name() -> None:
    registry = Registry(look=search)
    assert registry.name_of(search) == "look"


def test_registering_gives_the_value_back() -> None:
    registry = Registry()

    @registry.register
    def made(state: Any) -> None:
        del state

    assert registry.get("made", "hooks") is made


def test_only_the_very_value_has_the_name() -> None:
    @tool("search")
    def twin(query: str) -> str:
        """Search."""
        return query

    assert isinstance(twin, BaseTool)
    assert Registry(search).name_of(twin) is None


def test_a_name_means_one_value() -> None:
    registry = Registry(search)
    registry.register(search)
    with pytest.raises(ConfigurationError, match="another 'search'"):
        registry.register(note, "search")


def test_a_value_without_a_name_needs_one() -> None:
    with pytest.raises(ConfigurationError, match="no name of its own"):
        Registry(object())


def test_an_unknown_name_is_refused_with_the_likely_one() -> None:
    with pytest.raises(ConfigurationError, match=r"'serch', which is not registered.*'search'"):
        Registry(search).get("serch", "tools[0]")
