"""Keys that a state declares and does not take as input: what a caller gives for them is dropped."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import add_messages
from pydantic import BaseModel, Field

from interlock.graph import Agent, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware
from interlock.state import (
    AgentState,
    InvalidInputError,
    OmitFromInput,
    OmitFromOutput,
    PrivateStateAttr,
)
from interlock.state.ledger import ENGINE_KEYS, LEDGER_OUTPUTS
from interlock.tools import tool

OMITTED = (*LEDGER_OUTPUTS, *ENGINE_KEYS, "updated_by", "jump_to", "structured_response")


class Marked(AgentState[Any]):
    kept: Annotated[str, OmitFromOutput]
    result: Annotated[str, OmitFromInput]
    hidden: Annotated[str, PrivateStateAttr]


class Model(BaseModel):
    messages: Annotated[list[AnyMessage], add_messages] = Field(default_factory=list[AnyMessage])
    notes: Annotated[list[str], operator.add] = Field(default_factory=list[str])
    hidden: Annotated[str, PrivateStateAttr] = "unset"
    result: Annotated[str, OmitFromInput] = "unset"


@dataclass
class Record:
    messages: Annotated[list[AnyMessage], add_messages] = field(default_factory=list[AnyMessage])
    notes: list[str] = field(default_factory=list[str])
    hidden: Annotated[str, PrivateStateAttr] = "unset"
    result: Annotated[str, OmitFromInput] = "unset"


class Answer(BaseModel):
    n: int


class Listener(BaseCallbackHandler):
    """Keeps all that a tracer is shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def on_chain_start(self, serialized: Any, inputs: Any, **_: Any) -> None:  # noqa: ARG002
        self.shown.append(repr(inputs))

    def on_chain_end(self, outputs: Any, **_: Any) -> None:
        self.shown.append(repr(outputs))


@tool
def look(question: str) -> str:
    """Look."""
    return f"saw {question}"


def agent_of(calling: Any, **settings: Any) -> tuple[Any, list[dict[str, Any]]]:
    """An agent over ``Marked``, and the states that its hook and its model see."""
    seen: list[dict[str, Any]] = []

    class Looks(AgentMiddleware[Any, Any, Any]):
        state_schema = Marked

        def before_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            seen.append(dict(state))

    model = ScriptedChatModel([calling(("look", {"question": "x"})), "done"])
    return create_agent(model, [look], middleware=[Looks()], **settings), seen


GIVEN: Any = {
    "messages": [HumanMessage("go")],
    "kept": "mine",
    **dict.fromkeys(("result", "hidden", *OMITTED), "FORGED"),
}


async def test_what_is_given_for_them_reaches_nobody(
    run: Any, calling: Any, stored: Any, thread: Any
) -> None:
    agent, seen = agent_of(calling, **stored)
    listener = Listener()
    result = await run(agent, GIVEN, {**thread, "callbacks": [listener]})
    assert result["exit_reason"] == "text"
    assert seen[0]["kept"] == "mine"
    assert "FORGED" not in f"{result} {seen} {listener.shown}"
    if stored:
        history = [s.values for s in agent.get_state_history(thread)]
        assert "FORGED" not in f"{history} {stored['checkpointer'].storage}"


@pytest.mark.parametrize("mode", ["values", "updates", "debug", "tasks", "checkpoints"])
async def test_no_stream_shows_them(calling: Any, thread: Any, mode: Any) -> None:
    agent, _ = agent_of(calling, checkpointer=InMemorySaver())
    chunks = [*agent.stream(GIVEN, thread, stream_mode=mode)]
    assert "FORGED" not in repr(chunks)
    agent, _ = agent_of(calling, checkpointer=InMemorySaver())
    assert "FORGED" not in repr([c async for c in agent.astream(GIVEN, thread, stream_mode=mode)])


async def test_no_event_shows_them(calling: Any) -> None:
    agent, _ = agent_of(calling)
    events = [event async for event in agent.astream_events(GIVEN)]
    assert "mine" in repr(events[0])
    assert "FORGED" not in repr(events)


@pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
async def test_no_event_of_the_third_version_shows_them(calling: Any) -> None:
    agent, _ = agent_of(calling)
    stream = await agent.astream_events(GIVEN, version="v3")
    assert "FORGED" not in repr([event async for event in stream])


async def test_a_batch_and_a_chain_drop_them_too(calling: Any) -> None:
    agent, seen = agent_of(calling)
    agent.batch([GIVEN])
    await agent_of(calling)[0].abatch([GIVEN])
    (RunnableLambda(lambda _: GIVEN) | agent_of(calling)[0]).invoke("x")
    assert "FORGED" not in repr(seen)


async def test_keys_that_nobody_declares_are_refused_beside_them(run: Any, calling: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"no key 'exit_resons'; .* takes messages, kept"):
        await run(agent_of(calling)[0], {**GIVEN, "exit_resons": "x"})


SCHEMAS = [
    pytest.param(AgentState, id="TypedDict"),
    pytest.param(Model, id="pydantic"),
    pytest.param(Record, id="dataclass"),
    pytest.param({"notes": {"type": list[str]}, "topic": {"type": str}}, id="dict"),
]


@pytest.mark.parametrize("schema", SCHEMAS)
async def test_the_result_of_a_run_is_an_input_of_the_next(
    run: Any, stored: Any, thread: Any, schema: Any
) -> None:
    model = ScriptedChatModel(['{"n": 1}', '{"n": 2}'], profile={"structured_output": True})
    agent = create_agent(model, state_schema=schema, response_format=Answer, **stored)
    first = await run(agent, {"messages": "go"}, thread)
    assert first["structured_response"] == Answer(n=1)
    second = await run(agent, first, thread)
    assert second["structured_response"] == Answer(n=2)
    assert [m.text for m in second["messages"]] == ["go", '{"n": 1}', '{"n": 2}']
    assert second["exit_message"] == second["messages"][-1].id != first["exit_message"]
    assert second["step_count"] == first["step_count"] == 1


@pytest.mark.parametrize("schema", [Model, Record])
async def test_an_instance_of_the_state_is_an_input(run: Any, schema: Any) -> None:
    agent = create_agent(ScriptedChatModel(["done"]), state_schema=schema)
    given = schema(messages=[HumanMessage("go")], notes=["a"], hidden="FORGED", result="FORGED")
    result = await run(agent, given)
    assert result["notes"] == ["a"]
    assert "FORGED" not in repr(result)


async def test_a_result_is_an_input_of_an_agent_with_prompts(run: Any) -> None:
    model = ScriptedChatModel(["one", "two"])
    agent = Agent(model=model, user_prompt="Say {{ what }}.").compile()
    first = await run(agent, {"what": "this"})
    second = await run(agent, {**first, "what": "that"})
    assert [m.text for m in second["messages"]] == ["Say this.", "one", "Say that.", "two"]
