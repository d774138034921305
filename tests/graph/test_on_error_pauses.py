"""A pause in ``on_error``: nothing that completed runs again, and the failure is not forgotten."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import AgentGraph, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware
from interlock.state.failures import RestoredError
from interlock.tools import tool

GO: Any = {"messages": "go"}
THREAD: Any = {"configurable": {"thread_id": "t"}}
DB = ("db", 7)


class BrokenError(Exception):
    """An error of a program, with more than its text."""

    def __init__(self, host: str, code: int) -> None:
        super().__init__(f"{host} said {code}")
        self.code = code


class Log(AgentMiddleware[Any, Any, Any]):
    """Notes what it is told of."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    def on_error(self, error: Exception, state: Any, runtime: Any) -> None:  # noqa: ARG002
        self.log.append(f"told {error}")


class Asks(AgentMiddleware[Any, Any, Any]):
    """Asks a person what to say instead."""

    def __init__(self, kind: type[Exception] = Exception, *, interrupts: bool = False) -> None:
        self.kind = kind
        self.interrupts = interrupts
        self.told: list[Exception] = []

    def on_error(self, error: Exception, state: Any, runtime: Any) -> Any:  # noqa: ARG002
        self.told.append(error)
        if not isinstance(error, self.kind):
            return None
        said = interrupt(f"{error}?")
        return {"messages": [AIMessage(f"fixed: {said}")]} if said != "no" else None


class Fails(AgentMiddleware[Any, Any, Any]):
    """Fails behind the reply, a number of times."""

    def __init__(self, log: list[str], times: int = 9) -> None:
        self.log = log
        self.times = times

    def after_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
        self.log.append("after_model")
        if len(self.log) <= self.times:
            raise BrokenError(*DB)


def texts(result: Any) -> list[str]:
    return [m.text for m in result["messages"]]


@pytest.mark.parametrize("interrupts", [False, True])
async def test_a_resume_goes_on_with_the_hook_that_paused(run: Any, interrupts: bool) -> None:
    log: list[str] = []
    asks = Asks(interrupts=interrupts)
    stack = [asks, Log(log), Fails(log)]
    model = ScriptedChatModel(["one", "two"])
    agent = create_agent(model, [], middleware=stack, checkpointer=InMemorySaver())
    paused = await run(agent, GO, THREAD)
    assert [i.value for i in paused["__interrupt__"]] == ["db said 7?"]
    result = await run(agent, Command(resume="yes"), THREAD)
    assert log == ["after_model", "told db said 7"]
    assert texts(result) == ["go", "one", "fixed: yes"]
    assert (result["exit_reason"], model.calls) == ("error", 1)
    assert len(asks.told) == (2 if interrupts else 3)


async def test_the_answer_to_a_pause_after_a_failed_model_counts(run: Any) -> None:
    model = ScriptedChatModel([RuntimeError("down"), "two"])
    agent = create_agent(model, [], middleware=[Asks()], checkpointer=InMemorySaver())
    await run(agent, GO, THREAD)
    result = await run(agent, Command(resume="yes"), THREAD)
    assert (texts(result), model.calls) == (["go", "fixed: yes"], 1)


@pytest.mark.parametrize("kind", [BrokenError, OSError, KeyError])
async def test_a_resumed_hook_is_given_an_error_of_the_same_class(run: Any, kind: Any) -> None:
    original = kind("db", 7)
    saver = InMemorySaver()

    def agent(asks: Asks) -> AgentGraph:
        model = ScriptedChatModel([original, "two"])
        return create_agent(model, [], middleware=[asks], checkpointer=saver)

    await run(agent(Asks(kind)), GO, THREAD)
    later = Asks(kind)
    assert texts(await run(agent(later), Command(resume="yes"), THREAD)) == ["go", "fixed: yes"]
    (told,) = later.told
    assert isinstance(told, RestoredError)
    assert (isinstance(told, kind), str(told)) == (True, str(original))
    assert told.type_name == f"{kind.__module__}.{kind.__qualname__}"


async def test_after_a_pause_without_an_answer_the_failure_leaves_and_a_retry_begins_there(
    run: Any,
) -> None:
    log: list[str] = []
    model = ScriptedChatModel(["one", "two"])
    stack = [Asks(), Fails(log, times=1)]
    agent = create_agent(model, [], middleware=stack, checkpointer=InMemorySaver())
    await run(agent, GO, THREAD)
    with pytest.raises(BrokenError, match="db said 7"):
        await run(agent, Command(resume="no"), THREAD)
    result = await run(agent, None, THREAD)
    assert (texts(result), result["exit_reason"]) == (["go", "one"], "text")
    assert (log, model.calls) == (["after_model", "after_model"], 1)


async def test_hooks_that_nobody_answers_are_told_anew_when_a_retry_fails(run: Any) -> None:
    log: list[str] = []
    model = ScriptedChatModel(["one"])
    stack = [Log(log), Fails(log)]
    agent = create_agent(model, [], middleware=stack, checkpointer=InMemorySaver())
    for value in (GO, None):
        with pytest.raises(BrokenError):
            await run(agent, value, THREAD)
    assert log == ["after_model", "told db said 7"] * 2


async def test_a_breakpoint_before_the_hooks_does_not_hide_the_failure(run: Any) -> None:
    log: list[str] = []
    options: Any = {"checkpointer": InMemorySaver(), "interrupt_before": ["model"]}
    stack = [Asks(), Fails(log, times=1)]
    agent = create_agent(ScriptedChatModel(["one"]), [], middleware=stack, **options)
    value: Any = GO
    result: Any = None
    for _ in range(9):
        result = await run(agent, value, THREAD)
        waits = agent.get_state(THREAD).interrupts
        value = Command(resume="yes") if waits else None
        if not agent.get_state(THREAD).next:
            break
    assert (texts(result), log) == (["go", "one", "fixed: yes"], ["after_model"])


@pytest.mark.parametrize("times", [1, 2])
async def test_a_call_that_failed_beside_one_that_pauses_is_told_after_the_resume(
    run: Any, calling: Any, times: int
) -> None:
    ran: list[str] = []

    @tool
    def boom(what: str) -> str:
        """Fail."""
        ran.append(what)
        raise OSError(what)

    @tool
    def wait() -> str:
        """Pause the run."""
        return str(interrupt("go on?"))

    class Sorry(AgentMiddleware[Any, Any, Any]):
        def on_error(self, error: Exception, state: Any, runtime: Any) -> Any:  # noqa: ARG002
            return {"messages": [AIMessage(f"sorry: {error}")]}

    bad = [("boom", {"what": str(n)}) for n in range(times)]
    model = ScriptedChatModel([calling(*bad, ("wait", {}))])
    options: Any = {"on_tool_error": "raise", "checkpointer": InMemorySaver()}
    agent = create_agent(model, [boom, wait], middleware=[Sorry()], **options)
    paused = await run(agent, GO, THREAD)
    assert [i.value for i in paused["__interrupt__"]] == ["go on?"]
    result = await run(agent, Command(resume="yes"), THREAD)
    assert sorted(ran) == [str(n) for n in range(times)]
    assert texts(result)[-times:] == [f"sorry: {n}" for n in range(times)]
    assert result["exit_reason"] == "error"
