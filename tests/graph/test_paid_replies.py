"""A reply that was paid for is not lost when a layer fails or pauses behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import (
    AgentMiddleware,
    ModelResponse,
    PIIMiddleware,
    Verdict,
    allow,
    block,
    guardrail,
)

Layer = Callable[[Any, Any], Any]
GO: Any = {"messages": [HumanMessage("go", id="h")]}
USED: Any = {"input_tokens": 5, "output_tokens": 5, "total_tokens": 10}


def layer(function: Layer, **members: Any) -> Any:
    hook = staticmethod(function)
    return type("Layered", (AgentMiddleware,), {"wrap_model_call": hook, **members})()


def looks(_self: Any, _state: Any, _runtime: Any) -> None:
    """A hook before the model: something has taken effect when the layer runs."""


def looks_on(_self: Any, _error: Any, _state: Any, _runtime: Any) -> None:
    """A hook that answers nothing."""


def agent_of(*middleware: Any, saver: Any = None, stored: bool = True, **settings: Any) -> Any:
    model = ScriptedChatModel([AIMessage(text, usage_metadata=USED) for text in "1234"])
    saver = saver or (InMemorySaver() if stored else None)
    return create_agent(model, middleware=middleware, checkpointer=saver, **settings), model


def failing(times: int) -> Layer:
    """A layer that fails behind its handler so many times."""
    left = iter(range(times))

    def fails(request: Any, handler: Any) -> Any:
        response = handler(request)
        if next(left, None) is not None:
            msg = "behind the reply"
            raise RuntimeError(msg)
        return response

    return fails


def asking(request: Any, handler: Any) -> Any:
    response = handler(request)
    interrupt("fine?")
    return response


def texts(result: Any) -> list[str]:
    return [m.text for m in result["messages"]]


both = pytest.mark.parametrize(
    "hooks", [{}, {"before_model": looks}], ids=["alone", "behind a hook"]
)


@both
async def test_a_step_that_failed_goes_on_with_its_reply(run: Any, thread: Any, hooks: Any) -> None:
    agent, model = agent_of(layer(failing(1), **hooks))
    with pytest.raises(RuntimeError, match="behind the reply"):
        await run(agent, GO, thread)
    result = await run(agent, None, thread)
    assert (texts(result), model.calls, result["token_usage"]) == (["go", "1"], 1, USED)


@both
@pytest.mark.parametrize("declared", [False, True])
async def test_a_pause_goes_on_with_its_reply(
    run: Any, thread: Any, hooks: Any, declared: bool
) -> None:
    agent, model = agent_of(layer(asking, interrupts=declared, **hooks))
    paused = await run(agent, GO, thread)
    assert [i.value for i in paused["__interrupt__"]] == ["fine?"]
    result = await run(agent, Command(resume=True), thread)
    assert (texts(result), model.calls, result["token_usage"]) == (["go", "1"], 1, USED)


async def test_another_process_goes_on_with_the_reply(run: Any, thread: Any) -> None:
    saver = InMemorySaver()
    await run(agent_of(layer(asking), saver=saver)[0], GO, thread)
    agent, model = agent_of(layer(asking), saver=saver)
    result = await run(agent, Command(resume=True), thread)
    assert (texts(result), model.calls) == (["go", "1"], 0)


async def test_no_question_in_front_of_the_reply_is_asked_again(run: Any, thread: Any) -> None:
    def asks_twice(request: Any, handler: Any) -> Any:
        first = interrupt("before?")
        response = handler(request)
        second = interrupt("behind?")
        return ModelResponse([response.result[0].model_copy(update={"content": first + second})])

    agent, _ = agent_of(layer(asks_twice))
    asked = [(await run(agent, GO, thread))["__interrupt__"][0].value]
    asked.append((await run(agent, Command(resume="a"), thread))["__interrupt__"][0].value)
    assert asked == ["before?", "behind?"]
    assert texts(await run(agent, Command(resume="b"), thread)) == ["go", "ab"]


async def test_a_wrong_answer_leaves_the_reply_where_it_is(run: Any, thread: Any) -> None:
    def asks_for_a_number(request: Any, handler: Any) -> Any:
        response = handler(request)
        interrupt("how many?", response_schema=int)
        return response

    agent, model = agent_of(layer(asks_for_a_number))
    await run(agent, GO, thread)
    with pytest.raises(Exception, match="int"):
        await run(agent, Command(resume="many"), thread)
    assert texts(await run(agent, Command(resume=2), thread)) == ["go", "1"]
    assert model.calls == 1


async def test_another_request_is_asked_anew(run: Any, thread: Any) -> None:
    agent, model = agent_of(layer(failing(1)))
    with pytest.raises(RuntimeError):
        await run(agent, GO, thread)
    agent.update_state(thread, {"messages": [HumanMessage("other", id="h")]})
    assert texts(await run(agent, None, thread)) == ["other", "2"]
    assert model.calls == 2


async def test_a_layer_that_fails_on_the_same_reply_again_gets_another(
    run: Any, thread: Any
) -> None:
    agent, model = agent_of(layer(failing(2)))
    for _ in range(2):
        with pytest.raises(RuntimeError):
            await run(agent, GO if model.calls == 0 else None, thread)
    assert model.calls == 1
    result = await run(agent, None, thread)
    assert (texts(result), model.calls) == (["go", "2"], 2)
    assert result["token_usage"]["total_tokens"] == 20


async def test_a_layer_that_asks_several_times_gets_several_replies(run: Any, thread: Any) -> None:
    left = iter([1])

    def asks_twice(request: Any, handler: Any) -> Any:
        replies = [handler(request).result[0].text for _ in range(2)]
        if next(left, None):
            raise RuntimeError
        return AIMessage("".join(replies))

    agent, model = agent_of(layer(asks_twice))
    with pytest.raises(RuntimeError):
        await run(agent, GO, thread)
    result = await run(agent, None, thread)
    assert (texts(result), model.calls) == (["go", "12"], 2)
    assert result["token_usage"]["total_tokens"] == 20


async def test_a_run_that_hooks_send_to_the_model_again_asks_it(run: Any, thread: Any) -> None:
    def again(_self: Any, _error: Any, _state: Any, _runtime: Any) -> Any:
        return {"jump_to": "model"}

    agent, model = agent_of(layer(failing(1), on_error=again))
    result = await run(agent, GO, thread)
    assert (texts(result), model.calls) == (["go", "2"], 2)


async def test_a_failure_that_hooks_could_not_answer_leaves_the_reply(
    run: Any, thread: Any
) -> None:
    agent, model = agent_of(layer(failing(1), on_error=looks_on))
    with pytest.raises(RuntimeError):
        await run(agent, GO, thread)
    assert texts(await run(agent, None, thread)) == ["go", "1"]
    assert model.calls == 1


@pytest.mark.parametrize("stored", [False, True])
async def test_a_reply_behind_which_a_layer_failed_counts(
    run: Any, thread: Any, stored: bool
) -> None:
    def answer(_self: Any, _error: Any, _state: Any, _runtime: Any) -> Any:
        return {"messages": [AIMessage("sorry")]}

    agent, _ = agent_of(layer(failing(1), on_error=answer), stored=stored)
    assert (await run(agent, GO, thread))["token_usage"] == USED


@guardrail(on="output", name="screen")
def screen(text: str) -> Verdict:
    return block("withheld") if "geheim" in text else allow()


class Own(AgentMiddleware):
    """A user's own."""

    withholds_replies = True

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        handler(request)
        return AIMessage("withheld")


def personal_data() -> Any:
    return PIIMiddleware("secret", detector="geheim", apply_to_output=True)


@pytest.mark.parametrize("make", [lambda: screen, personal_data, Own], ids=["check", "pii", "own"])
@pytest.mark.parametrize("inside", [True, False])
async def test_a_reply_that_a_guardrail_withholds_is_not_stored(
    run: Any, thread: Any, make: Any, inside: bool
) -> None:
    saver = InMemorySaver()
    layers = [make(), layer(failing(1))]
    model = ScriptedChatModel(["geheim", "geheim"])
    agent = create_agent(model, middleware=layers[:: 1 if inside else -1], checkpointer=saver)
    with pytest.raises(RuntimeError):
        await run(agent, GO, thread)
    result = await run(agent, None, thread)
    assert "geheim" not in result["messages"][-1].text
    assert model.calls == 2
    stored = str([saver.storage, saver.writes, saver.blobs])
    assert "geheim" not in stored
