"""What ``on_error`` hooks are told, and where their answers lead, in every mode alike."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError

from interlock.graph import AgentGraph, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware
from interlock.state import AgentState
from interlock.state.errors import UnstorableValueError
from interlock.tools import tool

GO: Any = {"messages": "go"}
THREAD: Any = {"configurable": {"thread_id": "t"}}


def hooked(name: str = "Mine", **hooks: Any) -> Any:
    """A middleware of the given hooks, called without ``self``."""
    members = {
        point: staticmethod(hook) if callable(hook) else hook for point, hook in hooks.items()
    }
    return type(name, (AgentMiddleware,), members)()


def sorry(error: Exception, state: Any) -> Any:  # noqa: ARG001
    return {"messages": [AIMessage(f"sorry: {error}")]}


def nothing(state: Any) -> None:
    """Do nothing."""


def failing(text: str, log: list[str] | None = None) -> Callable[[Any], None]:
    def fail(state: Any) -> None:  # noqa: ARG001
        if log is not None:
            log.append(text)
        raise RuntimeError(text)

    return fail


def noting(log: list[str], word: str | None = None) -> Callable[[Any], None]:
    def note(given: Any) -> None:
        log.append(word or str(given))

    return note


def always(update: Any) -> Callable[[Any], Any]:
    def hook(_given: Any) -> Any:
        return update

    return hook


def once(log: list[str], update: Any) -> Callable[..., Any]:
    """A hook that answers the first failure it is told of."""

    def tell(error: Exception, state: Any) -> Any:  # noqa: ARG001
        log.append(str(error))
        return update if len(log) == 1 else None

    return tell


def texts(result: Any) -> list[str]:
    return [m.text for m in result["messages"]]


def by_invoke(agent: AgentGraph) -> Any:
    return agent.invoke(GO, THREAD)


def by_ainvoke(agent: AgentGraph) -> Any:
    return asyncio.run(agent.ainvoke(GO, THREAD))


def by_stream(agent: AgentGraph) -> Any:
    return list(agent.stream(GO, THREAD, stream_mode="values"))[-1]


def by_astream(agent: AgentGraph) -> Any:
    async def last() -> Any:
        return [v async for v in agent.astream(GO, THREAD, stream_mode="values")][-1]

    return asyncio.run(last())


@pytest.fixture(params=[by_invoke, by_ainvoke, by_stream, by_astream])
def way(request: pytest.FixtureRequest) -> Callable[[AgentGraph], Any]:
    """A way of running an agent to its end: returns the result."""
    found: Callable[[AgentGraph], Any] = request.param
    return found


@pytest.mark.parametrize(
    ("target", "said"), [("model", ["go", "hello"]), ("end", ["go"])], ids=["model", "end"]
)
def test_an_answered_failure_is_told_once_and_never_raised_again(
    way: Any, stored: Any, target: str, said: list[str]
) -> None:
    log: list[str] = []
    mine = hooked(before_model=nothing, on_error=once(log, {"jump_to": target}))
    model = ScriptedChatModel([RuntimeError("down"), "hello"])
    result = way(create_agent(model, [], middleware=[mine], **stored))
    assert (texts(result), log) == (said, ["down"])


def test_an_answer_is_said_once_although_hooks_follow_at_the_end(way: Any, stored: Any) -> None:
    ran: list[str] = []
    mine = hooked(after_model=failing("bad"), on_error=sorry, after_agent=noting(ran, "end"))
    result = way(create_agent(ScriptedChatModel(["hi"]), [], middleware=[mine], **stored))
    assert texts(result) == ["go", "hi", "sorry: bad"]
    assert (result["exit_reason"], ran) == ("error", ["end"])


@pytest.mark.parametrize("answer", [{"messages": "sorry"}, {"jump_to": "model"}])
def test_an_answered_failure_at_the_end_of_a_run_ends_it(
    way: Any, stored: Any, answer: Any
) -> None:
    log: list[str] = []
    stack = [
        hooked("First", after_agent=noting(log, "first")),
        hooked("Second", after_agent=failing("second", log)),
        hooked("Third", after_agent=noting(log, "third"), on_error=always(answer)),
    ]
    model = ScriptedChatModel(["done"], repeat_last=True)
    result = way(create_agent(model, [], middleware=stack, **stored))
    assert log == ["third", "second", "first"]
    assert (result["exit_reason"], model.calls) == ("error", 1)


def test_hooks_behind_one_that_failed_at_the_end_do_not_lead_back(way: Any, stored: Any) -> None:
    stack = [
        hooked("First", after_agent=always({"jump_to": "model"})),
        hooked("Second", after_agent=failing("second"), on_error=sorry),
    ]
    model = ScriptedChatModel(["done"], repeat_last=True)
    result = way(create_agent(model, [], middleware=stack, **stored))
    assert (texts(result)[-1], model.calls) == ("sorry: second", 1)


def test_a_jump_back_from_the_end_is_bounded_by_the_step_limit(way: Any, stored: Any) -> None:
    log: list[str] = []
    stack = [
        hooked("First", after_agent=noting(log, "first")),
        hooked("Second", after_agent=always({"jump_to": "model"})),
    ]
    model = ScriptedChatModel(["done"], repeat_last=True)
    result = way(create_agent(model, [], middleware=stack, max_agent_steps=3, **stored))
    assert (result["exit_reason"], model.calls, log) == ("max_agent_steps", 3, ["first"])


@tool
def boom(what: str) -> str:
    """Fail."""
    raise OSError(what)


@tool
def fine() -> str:
    """Be fine."""
    return "fine"


@pytest.mark.parametrize("target", [None, "model"])
def test_each_failed_call_is_told_once_in_call_order(
    way: Any, stored: Any, calling: Any, target: str | None
) -> None:
    log: list[str] = []

    def tell(error: Exception, state: Any) -> Any:
        log.append(f"{error} after {state['messages'][-1].text}")
        jump = {"jump_to": target} if target else {}
        return {**jump, "messages": [AIMessage(f"sorry: {error}")]}

    reply = calling(("boom", {"what": "a"}), ("fine", {}), ("boom", {"what": "b"}))
    model = ScriptedChatModel([reply, "done"])
    mine = hooked(on_error=tell)
    agent = create_agent(model, [boom, fine], middleware=[mine], on_tool_error="raise", **stored)
    result = way(agent)
    assert log == ["a after fine", "b after sorry: a"]
    assert [t for t in texts(result) if t.startswith("sorry")] == ["sorry: a", "sorry: b"]
    assert result["exit_reason"] == ("text" if target else "error")


def test_one_failed_call_that_nobody_answers_ends_the_run(
    way: Any, stored: Any, calling: Any
) -> None:
    def tell(error: Exception, state: Any) -> Any:
        return sorry(error, state) if str(error) == "a" else None

    model = ScriptedChatModel([calling(("boom", {"what": "a"}), ("boom", {"what": "b"}))])
    options: Any = {"middleware": [hooked(on_error=tell)], "on_tool_error": "raise", **stored}
    with pytest.raises(OSError, match=r"^b"):
        way(create_agent(model, [boom], **options))


def test_a_run_with_too_many_supersteps_is_told_and_may_be_answered(calling: Any) -> None:
    log: list[str] = []
    model = ScriptedChatModel([calling(("fine", {}))], repeat_last=True)
    mine = hooked(on_error=sorry, after_agent=noting(log, "end"))
    agent = create_agent(model, [fine], middleware=[mine])
    result = agent.invoke(GO, {"recursion_limit": 5})
    assert texts(result)[-1].startswith("sorry: Recursion limit of 5")
    assert (result["exit_reason"], log) == ("error", ["end"])


@pytest.mark.parametrize("target", ["model", "tools"])
def test_hooks_that_try_again_for_ever_reach_the_recursion_limit(
    way: Any, stored: Any, calling: Any, target: str
) -> None:
    mine = hooked(before_model=nothing, on_error=always({"jump_to": target}))
    script = [calling(("boom", {"what": "a"})), RuntimeError("down")]
    model = ScriptedChatModel(script[target == "model" :], repeat_last=True)
    options: Any = {"middleware": [mine], "on_tool_error": "raise", **stored}
    agent = create_agent(model, [boom], **options).with_config({"recursion_limit": 9})
    if way in (by_invoke, by_ainvoke) and not stored:
        assert way(agent)["exit_reason"] == "error"
        return
    with pytest.raises(GraphRecursionError):
        way(agent)


class Anything(AgentState):
    thing: Any


def test_a_value_that_cannot_be_stored_is_told_and_dropped_if_answered(way: Any) -> None:
    mine = hooked(state_schema=Anything, before_model=always({"thing": object()}), on_error=sorry)
    options: Any = {"middleware": [mine], "checkpointer": InMemorySaver()}
    result = way(create_agent(ScriptedChatModel(["hi"]), [], **options))
    assert texts(result)[:2] == ["go", "hi"]
    assert texts(result)[2].startswith("sorry: State key 'thing' holds a")
    assert (result.get("thing"), result["exit_reason"]) == (None, "error")


def test_a_hook_that_cannot_be_stored_either_is_told_once(way: Any) -> None:
    log: list[str] = []

    def put(error: Exception) -> Any:
        log.append(type(error).__name__)
        return {"thing": object()}

    first = always({"thing": object()})
    mine = hooked(state_schema=Anything, before_model=first, on_error=put)
    options: Any = {"middleware": [mine], "checkpointer": InMemorySaver()}
    with pytest.raises(UnstorableValueError):
        way(create_agent(ScriptedChatModel(["hi"]), [], **options))
    assert log == ["UnstorableValueError"]


def worse(error: Exception, state: Any) -> Any:
    state["messages"].append(AIMessage("half done"))
    raise KeyError(error)


def test_a_hook_that_fails_stops_no_other_and_hides_nothing(way: Any, stored: Any) -> None:
    log: list[str] = []

    stack = [hooked("A", on_error=noting(log)), hooked("B", on_error=worse)]
    agent = create_agent(ScriptedChatModel([OSError("down")]), [], middleware=stack, **stored)
    with pytest.raises(OSError, match="down") as caught:
        way(agent)
    assert log == ["down"]
    assert any("B.on_error failed too: KeyError" in note for note in caught.value.__notes__)


def test_one_hook_may_answer_although_another_fails(way: Any, stored: Any) -> None:
    stack = [hooked("A", on_error=sorry), hooked("B", on_error=worse)]
    agent = create_agent(ScriptedChatModel([OSError("down")]), [], middleware=stack, **stored)
    assert texts(way(agent))[-1] == "sorry: down"
