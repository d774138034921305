"""An agent whose state is declared as a dict of types and handlers."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import add_messages
from pydantic import BaseModel, Field

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware, hook
from interlock.state import (
    InvalidInputError,
    InvalidInputTypeError,
    InvalidUpdateError,
    State,
    StateSchemaError,
    merge_lists,
)


@dataclass
class Doc:
    text: str


def longest(current: str | None, new: str) -> str:
    return max(current or "", new, key=len)


class Note(BaseModel):
    text: str


SCHEMA: dict[str, Any] = {
    "docs": {"type": list[Doc]},
    "topic": {"type": str},
    "best": {"type": str, "handler": longest},
}


NOTES: dict[str, Any] = {"notes": {"type": list[str]}}


def agent_of(**settings: Any) -> Any:
    options: Any = {"state_schema": SCHEMA, **settings}
    return create_agent(ScriptedChatModel(["done"], repeat_last=True), [], **options)


async def test_keys_are_inputs_and_results_and_unset_ones_are_absent(run: Any) -> None:
    result = await run(agent_of(), {"messages": "go", "docs": [Doc("a")]})
    assert result["docs"] == [Doc("a")]
    assert not {"topic", "best"} & set(result)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"topc": "x"}, InvalidInputError),
        ({"topic": 7}, InvalidInputTypeError),
        ({"docs": ["a"]}, InvalidInputTypeError),
    ],
    ids=["unknown", "type", "item"],
)
async def test_a_wrong_input_is_refused(run: Any, given: Any, error: Any) -> None:
    with pytest.raises(error, match=next(iter(given))):
        await run(agent_of(), {"messages": "go", **given})


async def test_what_a_type_makes_of_an_update_is_what_the_result_holds(
    run: Any, thread: Any
) -> None:
    class Typed(BaseModel):
        messages: Annotated[list[AnyMessage], add_messages] = Field(
            default_factory=list[AnyMessage]
        )
        docs: Annotated[list[Note], operator.add] = Field(default_factory=list[Note])

    def add(_state: Any) -> Any:
        return {"docs": [{"text": "a"}]}

    for schema in (Typed, {"docs": {"type": list[Note]}}):
        hooks = {"before_run": [add], "after_run": [add]}
        agent = agent_of(state_schema=schema, hooks=hooks, checkpointer=InMemorySaver())
        assert (await run(agent, {"messages": "go"}, thread))["docs"] == [Note(text="a")] * 2


async def test_values_that_cannot_be_compared_are_merged(run: Any) -> None:
    class Table:
        __hash__ = None  # type: ignore[assignment]

        def __ne__(self, other: object) -> bool:
            raise TypeError(other)

        __eq__ = __ne__

    def newest(current: Any, new: Any) -> Any:
        return new if new is not None else current

    def add(_state: Any) -> Any:
        return {"table": Table(), "tables": Table()}

    schema = {"table": {"type": Table, "handler": newest}, "tables": {"type": list[Table]}}
    agent = agent_of(state_schema=schema, hooks={"before_run": [add], "after_run": [add]})
    result = await run(agent, {"messages": "go"})
    assert isinstance(result["table"], Table)
    assert len(result["tables"]) == 2


async def test_an_update_of_a_thread_is_checked_too(run: Any, thread: Any) -> None:
    agent = agent_of(checkpointer=InMemorySaver())
    await run(agent, {"messages": "go", "docs": [Doc("a")]}, thread)
    with pytest.raises(InvalidUpdateError, match="'docs'"):
        agent.update_state(thread, {"docs": [7]})
    assert agent.get_state(thread).values["docs"] == [Doc("a")]


async def test_none_is_an_input_of_any_key(run: Any) -> None:
    result = await run(agent_of(), {"messages": "go", "topic": None})
    assert result["topic"] is None


@pytest.mark.parametrize(
    "key",
    [
        *("step_count", "token_usage", "tool_call_counts", "exit_reason", "context_tokens"),
        *("continue_run", "stop_run", "tools", "hook_context", "last_message", "jump_to"),
    ],
)
def test_a_reserved_key_is_refused(key: str) -> None:
    with pytest.raises(StateSchemaError, match=f"'{key}'"):
        agent_of(state_schema={key: {"type": str}})


async def test_a_thread_goes_on_merging(run: Any, thread: Any) -> None:
    agent = agent_of(checkpointer=InMemorySaver())
    await run(agent, {"messages": "go", "docs": [Doc("a")], "best": "abc", "topic": "x"}, thread)
    result = await run(agent, {"messages": "on", "docs": [Doc("b")], "best": "ab"}, thread)
    assert (result["docs"], result["best"]) == ([Doc("a"), Doc("b")], "abc")
    agent.update_state(thread, {"best": "abcd", "topic": "y"})
    values = agent.get_state(thread).values
    assert (values["best"], values["topic"], values["docs"][1]) == ("abcd", "y", Doc("b"))


async def test_a_handler_may_change_the_value_it_is_given(run: Any, thread: Any) -> None:
    def add(current: list[str] | None, new: str) -> list[str]:
        changed = current if current is not None else []
        changed.append(new)
        return changed

    def note(_state: Any) -> Any:
        return {"log": "noted"}

    schema = {"log": {"type": list[str], "handler": add}}
    hooks = {"before_run": [note], "after_run": [note]}
    agent = agent_of(state_schema=schema, hooks=hooks, checkpointer=InMemorySaver())
    assert (await run(agent, {"messages": "go"}, thread))["log"] == ["noted"] * 2
    assert (await run(agent, {"messages": "on"}, thread))["log"] == ["noted"] * 4


async def test_a_middleware_may_declare_its_keys_as_a_dict(run: Any) -> None:
    class Notes(AgentMiddleware):
        state_schema = NOTES

        def before_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
            return {"notes": "seen"}

    result = await run(agent_of(middleware=[Notes(), Notes()]), {"messages": "go"})
    assert result["notes"] == ["seen", "seen"]


async def test_the_history_stays_one_of_messages_by_id(run: Any) -> None:
    schema = {"messages": {"type": list[HumanMessage], "handler": merge_lists}}
    message = HumanMessage("go", id="1")
    agent = agent_of(state_schema=schema)
    result = await run(agent, {"messages": [message, HumanMessage("again", id="1")]})
    assert [m.text for m in result["messages"]] == ["again", "done"]


async def test_agents_may_share_one_dict(run: Any) -> None:
    schema = {"log": {"type": list[str]}}
    first, second = agent_of(state_schema=schema), agent_of(state_schema=schema)
    await run(first, {"messages": "go", "log": ["a"]})
    assert "log" not in await run(second, {"messages": "go"})
    assert schema == {"log": {"type": list[str]}}


async def test_a_run_can_take_up_what_another_program_saved(run: Any) -> None:
    saved = State(SCHEMA, {"docs": [Doc("a")], "messages": [AIMessage("old", id="o")]})
    names: Any = {"types": {"Doc": Doc}, "handlers": {"longest": longest}}
    stored = saved.to_dict(**names)

    @hook
    def restore(state: State) -> None:
        for key, value in State.from_dict(stored, **names).data.items():
            state.set(key, value)

    result = await run(agent_of(hooks={"before_run": [restore]}), {"messages": "go"})
    assert result["docs"] == [Doc("a")]
    assert [m.text for m in result["messages"]] == ["go", "old", "done"]


def test_the_input_has_a_json_schema() -> None:
    properties = agent_of().get_input_jsonschema()["properties"]
    assert {"messages", "docs", "topic", "best"} <= set(properties)
