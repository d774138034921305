"""Searchable toolsets of an agent: a tool that was found can be called from then on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.graph import Agent, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import HumanInTheLoopMiddleware
from interlock.state.errors import ConfigurationError, InvalidInputError, ToolDefinitionError
from interlock.tools import SearchableToolset

Calling = Callable[..., AIMessage]
GO: dict[str, Any] = {"messages": "go"}
SUBJECTS = ["mail", "invoice", "flight", "hotel", "weather", "contract", "holiday", "train"]


def made(name: str) -> BaseTool:
    return StructuredTool.from_function(
        lambda: f"{name} done", name=name, description=f"{name.replace('_', ' ')} for a person."
    )


def catalog(**options: Any) -> SearchableToolset:
    return SearchableToolset([made(f"book_{s}") for s in SUBJECTS], **options)


def offered(model: ScriptedChatModel) -> list[list[str]]:
    """The names of the tools of each request."""
    return [[t["function"]["name"] for t in o.get("tools", [])] for o in model.options]


def texts(result: Any) -> list[str]:
    return [m.text for m in result["messages"] if m.type == "tool"]


def find(what: str, calling: Calling, start: int = 1) -> AIMessage:
    return calling(("search_tools", {"keywords": what}), start=start)


def test_a_name_in_a_catalog_is_refused_before_anybody_finds_it() -> None:
    with pytest.raises(ToolDefinitionError, match="'book_mail'"):
        create_agent(ScriptedChatModel(["hi"]), [made("book_mail"), catalog()])


@pytest.mark.parametrize("durable", [True, False])
async def test_a_tool_that_was_searched_for_can_be_called(
    run: Any, calling: Calling, thread: Any, durable: bool
) -> None:
    model = ScriptedChatModel(
        [find("invoices", calling), calling(("book_invoice", {}), start=2), "done"]
    )
    agent = create_agent(
        model, [made("one"), catalog(top_k=1)], checkpointer=InMemorySaver() if durable else None
    )
    result = await run(agent, GO, thread)
    assert offered(model)[:2] == [
        ["one", "search_tools"], ["one", "search_tools", "book_invoice"],
    ]  # fmt: skip
    assert texts(result)[1] == "book_invoice done"
    assert "found_tools" not in result


async def test_a_tool_of_the_catalog_that_was_not_found_cannot_be_called(
    run: Any, calling: Calling
) -> None:
    model = ScriptedChatModel([calling(("book_invoice", {})), "done"])
    result = await run(create_agent(model, [catalog()]), GO)
    assert result["messages"][2].status == "error"
    assert "search_tools" in texts(result)[0]


async def test_what_one_thread_found_no_other_thread_sees(run: Any, calling: Calling) -> None:
    model = ScriptedChatModel([find("train", calling), "done", "hi", "again"])
    agent = create_agent(model, [catalog(top_k=1)], checkpointer=InMemorySaver())
    one, other = ({"configurable": {"thread_id": t}} for t in "12")
    await run(agent, GO, one)
    await run(agent, GO, other)
    await run(agent, GO, one)
    assert [len(names) for names in offered(model)] == [1, 2, 1, 2]


async def test_without_a_checkpointer_each_run_begins_with_the_search_tool(
    run: Any, calling: Calling
) -> None:
    model = ScriptedChatModel([find("train", calling), "done", "hi"])
    agent = create_agent(model, [catalog()])
    await run(agent, GO)
    await run(agent, GO)
    assert offered(model)[-1] == ["search_tools"]


async def test_searches_side_by_side_all_count(run: Any, calling: Calling, thread: Any) -> None:
    both = calling(("search_tools", {"keywords": "train"}), ("search_tools", {"keywords": "mail"}))
    model = ScriptedChatModel([both, "done"])
    await run(create_agent(model, [catalog(top_k=1)], checkpointer=InMemorySaver()), GO, thread)
    assert offered(model)[1] == ["search_tools", "book_train", "book_mail"]


async def test_a_found_tool_can_need_an_approval(run: Any, calling: Calling, thread: Any) -> None:
    model = ScriptedChatModel([find("mail", calling), calling(("book_mail", {}), start=2), "done"])
    agent = create_agent(
        model, [catalog(top_k=1)], checkpointer=InMemorySaver(),
        middleware=[HumanInTheLoopMiddleware({"book_mail": True})],
    )  # fmt: skip
    paused = await run(agent, GO, thread)
    assert paused["__interrupt__"]
    result = await run(agent, Command(resume={"decisions": [{"type": "approve"}]}), thread)
    assert texts(result)[1] == "book_mail done"


async def test_two_catalogs_keep_apart_what_was_found(run: Any, calling: Calling) -> None:
    more = SearchableToolset(
        [made(f"sell_{s}") for s in SUBJECTS],
        name="sales",
        search_tool_name="search_sales",
        top_k=1,
    )
    model = ScriptedChatModel([calling(("search_sales", {"keywords": "mail"})), "done"])
    await run(create_agent(model, [catalog(), more]), GO)
    assert offered(model)[1] == ["search_tools", "search_sales", "sell_mail"]


def test_a_guard_that_names_a_tool_of_no_catalog_is_refused() -> None:
    review = HumanInTheLoopMiddleware({"book_pizza": True})
    with pytest.raises(ConfigurationError, match="book_pizza"):
        create_agent(ScriptedChatModel(["hi"]), [catalog()], middleware=[review])


def test_names_chosen_for_a_run_limit_its_search_over_a_pause(
    calling: Calling,
) -> None:
    model = ScriptedChatModel([find("book", calling), calling(("book_mail", {}), start=2), "done"])
    agent = Agent(
        model=model, tools=[catalog(search_threshold=2)], checkpointer=InMemorySaver(),
        middleware=[HumanInTheLoopMiddleware({"book_mail": True})],
    )  # fmt: skip
    agent.run("go", tools=["book_mail", "book_train"], thread_id="t")
    result = agent.run(Command(resume={"decisions": [{"type": "approve"}]}), thread_id="t")
    assert offered(model)[-1] == ["search_tools", "book_mail", "book_train"]
    assert texts(result)[1] == "book_mail done"


def test_a_run_cannot_bring_a_catalog_whose_finds_the_agent_does_not_keep() -> None:
    agent = Agent(model=ScriptedChatModel(["hi"]), tools=[made("one")])
    with pytest.raises(InvalidInputError, match="keeps found_tools in the state"):
        agent.run("go", tools=[catalog()])


PROGRAM = """
import json, sys
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command, interrupt
from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.tools import SearchableToolset

def made(name):
    return StructuredTool.from_function(lambda: str(interrupt(name)), name=name, description=f"Book {name}.")

def call(name, args, ident):
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": ident, "type": "tool_call"}])

config = {"configurable": {"thread_id": "t"}}
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    first = saver.get_tuple(config) is None
    steps = [call("search_tools", {"keywords": "b"}, "c1"), call("b", {}, "c2")] if first else ["done"]
    model = ScriptedChatModel(steps)
    catalog = SearchableToolset([made(n) for n in "abcdefgh"], top_k=1)
    agent = create_agent(model, [catalog], checkpointer=saver)
    result = agent.invoke({"messages": "go"} if first else Command(resume="booked"), config)
    names = [t["function"]["name"] for t in model.options[-1]["tools"]]
    print(json.dumps([names, [m.text for m in result["messages"]][-2:]]))
"""


@pytest.mark.slow
def test_what_was_found_is_there_in_another_process(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-c", PROGRAM, str(tmp_path / "threads.sqlite")]

    def step() -> Any:
        done = subprocess.run(command, check=True, capture_output=True, cwd=tmp_path, timeout=60)
        return json.loads(done.stdout)

    assert step()[0] == ["search_tools", "b"]
    assert step() == [["search_tools", "b"], ["booked", "done"]]
