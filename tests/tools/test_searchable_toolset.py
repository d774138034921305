"""A catalog of tools that the model searches."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool

from interlock.state.errors import ConfigurationError
from interlock.tools import SearchableToolset, Toolset, select_tools
from interlock.tools.searchable_toolset import NO_WORDS

SUBJECTS = ["mail", "invoice", "flight", "hotel", "weather", "contract", "holiday", "train"]


def made(name: str, description: str) -> BaseTool:
    return StructuredTool.from_function(lambda: name, name=name, description=description)


CATALOG = [made(f"{verb}_{s}", f"{verb} {s}s.") for s in SUBJECTS for verb in ("find", "cancel")]


def names(tools: Any) -> list[str]:
    return [tool.name for tool in tools]


def searched(toolset: SearchableToolset, keywords: str) -> Any:
    call = {"name": "search_tools", "args": {"keywords": keywords}, "id": "c", "type": "tool_call"}
    return toolset.search_tool.invoke(call).update


def test_a_large_catalog_is_hidden_behind_a_search_tool() -> None:
    assert names(SearchableToolset(CATALOG)) == ["search_tools"]


@pytest.mark.parametrize(("threshold", "searched"), [(16, True), (17, False)])
def test_the_threshold_is_the_first_size_that_is_searched(threshold: int, searched: bool) -> None:
    toolset = SearchableToolset(CATALOG, search_threshold=threshold)
    assert (names(toolset) == ["search_tools"]) is searched
    assert (len(toolset) == 16) is not searched


def test_a_search_says_what_it_found_and_writes_the_names() -> None:
    update = searched(SearchableToolset(CATALOG, name="office", top_k=2), "invoices")
    assert update["found_tools"] == {"office": ["find_invoice", "cancel_invoice"]}
    assert "- cancel_invoice: cancel invoices." in update["messages"][0].text


def test_what_was_found_is_visible_beside_the_search_tool() -> None:
    toolset = SearchableToolset(CATALOG, name="office")
    state = {"found_tools": {"office": ["cancel_train", "find_mail"], "other": ["find_hotel"]}}
    assert names(toolset.visible(state)) == ["search_tools", "cancel_train", "find_mail"]


def test_a_search_leaves_the_toolset_as_it_was() -> None:
    toolset = SearchableToolset(CATALOG)
    searched(toolset, "invoice")
    assert names(toolset.visible({})) == ["search_tools"]


def test_only_the_latest_found_tools_stay_visible() -> None:
    toolset = SearchableToolset(CATALOG, max_visible=1)
    state = {"found_tools": {"catalog": ["cancel_train", "find_mail"]}}
    assert names(toolset.visible(state)) == ["search_tools", "find_mail"]


def test_a_name_that_left_the_catalog_is_not_visible() -> None:
    state = {"found_tools": {"catalog": ["old", "find_mail"]}}
    assert names(SearchableToolset(CATALOG).visible(state)) == ["search_tools", "find_mail"]


def test_a_search_without_words_gets_a_hint() -> None:
    update = searched(SearchableToolset(CATALOG), " ?")
    assert (update["messages"][0].text, "found_tools" in update) == (NO_WORDS, False)


def test_a_search_that_finds_nothing_says_so() -> None:
    update = searched(SearchableToolset(CATALOG), "pizza")
    assert "No tool fits 'pizza'" in update["messages"][0].text
    assert "found_tools" not in update


def test_a_selection_by_name_limits_the_search() -> None:
    toolset = SearchableToolset(CATALOG, search_threshold=2, name="office")
    (some,) = select_tools([toolset], ["find_mail", "find_hotel", "find_train"])
    assert isinstance(some, SearchableToolset)
    assert searched(some, "find cancel")["found_tools"] == {
        "office": ["find_mail", "find_hotel", "find_train"]
    }


def test_a_tool_of_the_catalog_is_contained_before_it_is_found() -> None:
    toolset = SearchableToolset(CATALOG)
    assert ["find_mail" in toolset, "search_tools" in toolset, CATALOG[3] in toolset] == [True] * 3
    assert "find_pizza" not in toolset


def test_a_catalog_may_be_made_of_toolsets_and_found_late() -> None:
    late = Toolset(lambda: CATALOG[4:])
    toolset = SearchableToolset([*CATALOG[:4], late])
    assert (toolset.loaded, late.loaded) == (False, False)
    assert names(toolset.search("weather")) == ["find_weather", "cancel_weather"]


@pytest.mark.parametrize("setting", ["top_k", "search_threshold", "max_visible"])
def test_a_number_below_one_is_refused(setting: str) -> None:
    options: dict[str, Any] = {setting: 0}
    with pytest.raises(ConfigurationError, match=f"{setting} is 0"):
        SearchableToolset(CATALOG, **options)
