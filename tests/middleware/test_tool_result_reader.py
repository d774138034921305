from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from langgraph.store.memory import InMemoryStore

from interlock.graph import create_agent
from interlock.middleware import (
    FileSystemToolResultStore,
    LangGraphToolResultStore,
    result_reader,
)
from interlock.middleware.tool_result_reader import store_of
from interlock.state.errors import ConfigurationError, RunError


@pytest.fixture
def read(run: Any, scripted: Any, calling: Callable[..., AIMessage], tmp_path: Path) -> Any:
    """``await read(content, **arguments)``: what the tool answers with 10 characters a portion."""

    async def go(content: str | bytes, **arguments: Any) -> Any:
        store = FileSystemToolResultStore(tmp_path)
        reference = store.write("k", content)
        call = calling(("read_tool_result", {"reference": reference, **arguments}))
        agent = create_agent(scripted(call, "ok"), [result_reader(store, max_chars=10)])
        return (await run(agent, {"messages": "go"}))["messages"][2]

    return go


async def test_long_text_comes_in_portions(read: Any) -> None:
    answer = await read("0123456789abcdef")

    assert answer.text == "0123456789\n[characters 0 to 10 of 16; go on at 10]"


async def test_last_portion_is_the_rest(read: Any) -> None:
    assert (await read("0123456789abcdef", offset=10)).text == "abcdef"


@pytest.mark.parametrize("arguments", [{"offset": 99}, {"offset": -1}, {"reference": "../../x"}])
async def test_wrong_request_is_told_to_the_model(read: Any, arguments: dict[str, Any]) -> None:
    answer = await read("text", **arguments)

    assert answer.status == "error"


async def test_bytes_are_described(read: Any) -> None:
    assert (await read(b"\xff\x00")).text == "'k' holds 2 bytes that are no text."


def runtime(**fields: Any) -> Any:
    make: Any = Runtime
    return make(**fields)


def test_run_decides_before_the_agent_and_the_agent_before_its_store(tmp_path: Path) -> None:
    own, given = FileSystemToolResultStore(tmp_path), FileSystemToolResultStore(tmp_path)
    memory = InMemoryStore()

    class Context:
        tool_result_store = given

    assert store_of(own, runtime(context={"tool_result_store": given})) is given
    assert store_of(own, runtime(context=Context())) is given
    assert store_of(own, runtime(store=memory)) is own
    found = store_of(None, runtime(store=memory))
    assert isinstance(found, LangGraphToolResultStore)
    assert found.store is memory


def test_run_without_any_store_is_an_error() -> None:
    with pytest.raises(RunError, match="store"):
        store_of(None, runtime())
    with pytest.raises(ConfigurationError, match="no store"):
        store_of(None, runtime(context={"tool_result_store": "folder"}))
