"""Tools that are given the live state: what they write counts once they have succeeded."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool as langchain_tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.state import InvalidUpdateError, State, replace_values
from interlock.tools import tool

SCHEMA: dict[str, Any] = {"docs": {"type": list[str]}, "last": {"type": str}}
GO = {"messages": "go"}


@pytest.fixture
def options(stored: dict[str, Any]) -> dict[str, Any]:
    return {"state_schema": SCHEMA, **stored}


@tool
def note(text: str, state: State) -> str:
    """Note."""
    state.set("docs", text)
    return f"{len(state['docs'])} notes"


async def test_a_failed_tool_writes_nothing(
    run: Any, options: Any, thread: Any, agent_of: Any, results: Any
) -> None:
    @tool
    def half(state: State) -> str:
        """Fail."""
        state.set("docs", "half")
        raise ValueError(state["docs"][0])

    result = await run(agent_of([half], ("half", {}), **options), GO, thread)
    assert "ValueError" in results(result)["c0"]
    assert "docs" not in result


async def test_a_pause_of_a_tool_writes_nothing_before_its_end(
    run: Any, thread: Any, agent_of: Any, results: Any
) -> None:
    @tool
    def careful(state: State) -> str:
        """Ask."""
        state.set("docs", "asked")
        state.set("docs", str(interrupt("?")))
        return str(len(state["docs"]))

    saver = InMemorySaver()
    agent = agent_of([careful], ("careful", {}), state_schema=SCHEMA, checkpointer=saver)
    await run(agent, GO, thread)
    assert "docs" not in agent.get_state(thread).values
    result = await run(agent, Command(resume="yes"), thread)
    assert (result["docs"], results(result)) == (["asked", "yes"], {"c0": "2"})


async def test_a_tool_may_add_messages_and_not_drop_its_call(run: Any, agent_of: Any) -> None:
    @tool
    def hint(state: State) -> str:
        """Hint."""
        with pytest.raises(InvalidUpdateError, match="hold its own call"):
            state.set("messages", [], handler_override=replace_values)
        state.set("messages", [HumanMessage("a hint")])
        return "hinted"

    result = await run(agent_of([hint], ("hint", {}), state_schema=SCHEMA), GO)
    assert [m.text for m in result["messages"]] == ["go", "", "hinted", "a hint", "done"]


async def test_a_tool_may_end_the_run_through_its_state(
    run: Any, options: Any, thread: Any, agent_of: Any, results: Any
) -> None:
    @tool
    def finish(state: State) -> str:
        """Finish."""
        state.set("jump_to", "end")
        return "finished"

    result = await run(agent_of([finish], ("finish", {}), **options), GO, thread)
    assert (result["exit_reason"], results(result)) == ("jump", {"c0": "finished"})


async def test_langchains_own_decorator_knows_the_live_state(
    run: Any, agent_of: Any, results: Any
) -> None:
    @langchain_tool
    def plain(word: str, state: State) -> str:
        """Show."""
        state.set("docs", word)
        return str(state["docs"])

    assert list(convert_to_openai_tool(plain)["function"]["parameters"]["properties"]) == ["word"]
    result = await run(agent_of([plain], ("plain", {"word": "w"}), state_schema=SCHEMA), GO)
    assert (results(result), result["docs"]) == ({"c0": "['w']"}, ["w"])


async def test_a_handler_that_listens_changes_nothing_and_sees_no_value(
    run: Any, agent_of: Any, results: Any
) -> None:
    class Listens(BaseCallbackHandler):
        seen: ClassVar[list[str]] = []

        def on_tool_start(self, serialized: Any, input_str: str, **kwargs: Any) -> None:  # noqa: ARG002
            self.seen.append(input_str)

    @tool(inputs_from_state={"last": "word"})
    def show(word: str, state: State | None = None) -> str:
        """Show."""
        assert state is not None
        state.set("docs", word)
        return str(state["docs"])

    agent = agent_of([show, note], ("show", {}), ("note", {"text": "n"}), state_schema=SCHEMA)
    result = await run(agent, {**GO, "last": "tok-7731"}, {"callbacks": [Listens()]})
    assert results(result) == {"c0": "['tok-7731']", "c1": "2 notes"}
    assert Listens.seen
    assert "tok-7731" not in str(Listens.seen)
