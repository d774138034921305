from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool

from interlock.middleware.cache_marks import portable_request
from interlock.middleware.request import ModelRequest

MARK = {"type": "ephemeral"}


@tool(extras={"cache_control": MARK})
def look_up(key: str) -> str:
    """Look up a key."""
    return key


def _marked() -> ModelRequest[Any]:
    blocks: list[Any] = [
        {"type": "text", "text": "a", "cache_control": MARK},
        {"type": "text", "text": "b", "extras": {"cache_control": MARK, "kept": 1}},
        {"type": "text", "text": "c", "metadata": {"cache_control": MARK}},
        "d",
    ]
    return ModelRequest(
        model=None,
        system_message=SystemMessage(content=blocks),
        messages=[HumanMessage("plain"), HumanMessage(content=blocks)],
        tools=[
            look_up,
            {"name": "other", "cache_control": MARK, "extras": {"cache_control": MARK}},
        ],
        model_settings={
            "cache_control": MARK,
            "prompt_cache_key": "k",
            "extra_headers": {"X-Session-Affinity": "s", "x-own": "1"},
            "temperature": 0.5,
        },
    )


def _for(kind: Any) -> ModelRequest[Any]:
    return portable_request(_marked(), SimpleNamespace(_llm_type=kind))


def test_every_mark_goes_for_a_provider_that_takes_none() -> None:
    clean = _for("other-chat")
    assert "cache_control" not in repr(clean)
    assert clean.model_settings == {"temperature": 0.5, "extra_headers": {"x-own": "1"}}
    assert clean.messages[1].content[1]["extras"] == {"kept": 1}  # type: ignore[index]
    assert [t.extras if not isinstance(t, dict) else t["extras"] for t in clean.tools] == [None] * 2


@pytest.mark.parametrize(
    ("kind", "kept"),
    [
        ("anthropic-chat", {"cache_control"}),
        ("openai-chat", {"prompt_cache_key"}),
        ("fireworks-chat", {"prompt_cache_key"}),
        (["anthropic-chat"], set[str]()),
    ],
)
def test_each_provider_keeps_its_own_marks(kind: Any, kept: set[str]) -> None:
    settings = _for(kind).model_settings
    assert {"cache_control", "prompt_cache_key"} & settings.keys() == kept


def test_affinity_stays_for_its_provider_only() -> None:
    assert "X-Session-Affinity" in _for("fireworks-chat").model_settings["extra_headers"]
    assert "X-Session-Affinity" not in _for("openai-chat").model_settings["extra_headers"]


def test_request_that_is_sanitized_stays_as_it_was() -> None:
    request = _marked()
    before = repr(request)
    portable_request(request)
    assert repr(request) == before


def test_request_without_marks_is_returned_itself() -> None:
    request = ModelRequest[Any](model=None, messages=[HumanMessage("hi")], tools=[{"name": "t"}])
    assert portable_request(request) is request
