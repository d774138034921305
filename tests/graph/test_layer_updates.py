"""State updates of several ``wrap_model_call`` layers around one model call."""

from __future__ import annotations

import operator
from typing import Annotated, Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.channels.last_value import LastValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import InvalidUpdateError as GraphInvalidUpdateError
from langgraph.types import Command

from interlock.graph import create_agent
from interlock.graph.layer_updates import refuse_clash
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware, ExtendedModelResponse, ModelResponse
from interlock.middleware.flows import Flow, flow_layer
from interlock.state import AgentState, InvalidUpdateError
from interlock.state.channels import LastWrite


class Topics(AgentState[Any]):
    topic: str
    log: Annotated[list[str], operator.add]


class Writes(AgentMiddleware[Any, Any, Any]):
    """Writes an update beside the reply."""

    state_schema = Topics

    def __init__(self, name: str, *, structured: Any = None, **update: Any) -> None:
        self._name, self._update, self._structured = name, update, structured

    @property
    def name(self) -> str:
        return self._name

    def _flow(self, request: Any) -> Flow[Any]:
        response: ModelResponse[Any] = yield request
        if self._structured is not None:
            response = ModelResponse(response.result, self._structured)
        if not self._update:
            return response
        return ExtendedModelResponse(response, Command(update=self._update))

    wrap_model_call, awrap_model_call = flow_layer(_flow)


class Plain(AgentMiddleware[Any, Any, Any]):
    """Writes a topic before and after the model."""

    state_schema = Topics

    def before_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
        return {"topic": "before"}

    def after_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
        return None if state["topic"] == "after" else {"topic": "after"}


def agent_of(*middleware: Any, **settings: Any) -> Any:
    model = ScriptedChatModel(["done", "asked again"])
    return create_agent(model, middleware=middleware, **settings), model


GO: Any = {"messages": [HumanMessage("go")]}


async def test_two_layers_that_write_one_plain_key_are_an_error_with_both_names(run: Any) -> None:
    agent, _ = agent_of(Writes("outer", topic="a"), Writes("inner", topic="b"))
    with pytest.raises(InvalidUpdateError, match=r"inner\.wrap.* outer\.wrap.*'topic'") as caught:
        await run(agent, GO)
    assert caught.value.key == "topic"
    assert isinstance(caught.value, GraphInvalidUpdateError)


async def test_a_layer_that_writes_the_answer_of_a_reply_that_has_one_is_an_error(run: Any) -> None:
    agent, _ = agent_of(Writes("layer", structured={"n": 1}, structured_response={"n": 2}))
    with pytest.raises(InvalidUpdateError, match=r"the reply.*layer\.wrap.*'structured_response'"):
        await run(agent, GO)


async def test_a_layer_may_write_the_answer_of_a_reply_without_one(run: Any) -> None:
    agent, _ = agent_of(Writes("layer", structured_response={"n": 2}))
    assert (await run(agent, GO))["structured_response"] == {"n": 2}


async def test_a_key_with_a_reducer_takes_the_updates_from_the_inside_out(run: Any) -> None:
    agent, _ = agent_of(Writes("outer", log=["b"]), Writes("inner", log=["a"], topic="x"))
    result = await run(agent, GO)
    assert (result["log"], result["topic"]) == (["a", "b"], "x")


async def test_hooks_before_and_after_may_write_what_a_layer_writes(run: Any) -> None:
    agent, _ = agent_of(Plain(), Writes("layer", topic="within"))
    assert (await run(agent, GO))["topic"] == "after"


@pytest.mark.parametrize("first", [(), (Plain(),)], ids=["alone", "behind a hook"])
@pytest.mark.parametrize(
    "layers",
    [
        (Writes("outer", log=["b"], topic="a"), Writes("inner", log=["a"], topic="b")),
        (Writes("outer", topic="a", undeclared=1),),
    ],
    ids=["clash", "undeclared"],
)
async def test_a_thread_keeps_the_reply_and_nothing_that_its_layers_wrote(
    run: Any, thread: Any, first: Any, layers: Any
) -> None:
    agent, model = agent_of(*first, *layers, checkpointer=InMemorySaver())
    with pytest.raises(InvalidUpdateError, match=r"wrote state key '(topic|undeclared)'"):
        await run(agent, GO, thread)
    kept = agent.get_state(thread).values
    assert [m.text for m in kept["messages"]] == ["go", "done"]
    assert kept.get("topic") == ("before" if first else None)
    assert not kept.get("log")

    result = await run(agent, None, thread)
    assert [m.text for m in result["messages"]] == ["go", "done"]
    assert result["exit_reason"] == "text"
    assert model.calls == 1


async def test_hooks_may_answer_a_clash(run: Any) -> None:
    class Answers(AgentMiddleware[Any, Any, Any]):
        def on_error(self, error: Any, state: Any, runtime: Any) -> Any:  # noqa: ARG002
            return {"topic": type(error).__name__}

    layers = Writes("outer", topic="a"), Writes("inner", topic="b")
    result = await run(agent_of(*layers, Answers())[0], GO)
    assert (result["topic"], result["exit_reason"]) == ("InvalidUpdateError", "error")


CHANNELS: dict[str, Any] = {"own": LastWrite(str), "last": LastValue(str), "free": object()}


@pytest.mark.parametrize("key", ["own", "last"])
def test_a_clash_names_the_key_and_both_layers(key: str) -> None:
    with pytest.raises(InvalidUpdateError, match=f"c and a both wrote state key '{key}'"):
        refuse_clash([("c", {key: 1}), ("b", {}), ("a", {key: 2})], CHANNELS)


@pytest.mark.parametrize(
    "updates", [[], [{"own": 1}], [{"own": 1}, {"last": 1}], [{"free": 1}, {"free": 2}]]
)
def test_updates_that_do_not_meet_pass(updates: Any) -> None:
    refuse_clash([("layer", update) for update in updates], CHANNELS, answered=True)
