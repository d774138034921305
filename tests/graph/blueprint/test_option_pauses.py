"""What a pause keeps of what its run was given beside the input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command, interrupt

from interlock.graph import Agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware
from interlock.state import InvalidInputError, UnstorableValueError
from interlock.tools import tool


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


@tool
def ask() -> str:
    """Ask a person."""
    return str(interrupt("well?"))


def offered(model: ScriptedChatModel, call: int = -1) -> list[str]:
    return [t["function"]["name"] for t in model.options[call].get("tools", [])]


def settings_of(model: ScriptedChatModel, call: int = -1) -> dict[str, Any]:
    return {k: v for k, v in model.options[call].items() if k not in ("tools", "tool_choice")}


async def resume(run_agent: Any, agent: Agent, answer: str, **options: Any) -> dict[str, Any]:
    (pause,) = agent.compile().get_state({"configurable": {"thread_id": "t"}}).interrupts
    command: Command[Any] = Command(resume={pause.id: answer})
    result: dict[str, Any] = await run_agent(agent, command, thread_id="t", **options)
    return result


async def test_a_pause_keeps_the_options(run_agent: Any, calling: Any) -> None:
    model = ScriptedChatModel([calling(("ask", {})), "ok", "new"])
    agent = Agent(model=model, tools=[search, ask], system_prompt="A", checkpointer=InMemorySaver())
    options = {"generation_kwargs": {"seed": 1}, "tools": ["ask"], "system_prompt": "B"}
    await run_agent(agent, "go", thread_id="t", **options)
    await resume(run_agent, agent, "yes")
    assert settings_of(model) == {"seed": 1}
    assert offered(model) == ["ask"]
    assert model.requests[-1][0].text == "B"
    await run_agent(agent, "next", thread_id="t")
    assert (settings_of(model), offered(model)) == ({}, ["search", "ask"])
    assert model.requests[-1][0].text == "A"


def test_another_program_goes_on_with_the_options(calling: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "threads.sqlite")
    options: dict[str, Any] = {
        "generation_kwargs": {"seed": 1},
        "tools": ["ask"],
        "system_prompt": "B",
    }
    parts: dict[str, Any] = {"tools": [search, ask], "system_prompt": "A"}
    with SqliteSaver.from_conn_string(path) as saver:
        first = ScriptedChatModel([calling(("ask", {}))])
        Agent(model=first, checkpointer=saver, **parts).run("go", thread_id="t", **options)
    model = ScriptedChatModel(["ok"])
    with SqliteSaver.from_conn_string(path) as saver:
        agent = Agent(model=model, checkpointer=saver, **parts)
        (pause,) = agent.compile().get_state({"configurable": {"thread_id": "t"}}).interrupts
        agent.run(Command(resume={pause.id: "yes"}), thread_id="t")
    assert (settings_of(model), offered(model)) == ({"seed": 1}, ["ask"])
    assert model.requests[0][0].text == "B"


async def test_what_cannot_be_stored_is_named(run_agent: Any) -> None:
    agent = Agent(model=ScriptedChatModel(["ok"]), checkpointer=InMemorySaver())
    with pytest.raises(UnstorableValueError, match="run_options"):
        await run_agent(agent, "go", thread_id="t", generation_kwargs={"client": object()})


async def test_a_pause_of_the_first_hook_keeps_the_options(run_agent: Any) -> None:
    class Gate(AgentMiddleware):
        def before_agent(self, state: Any, runtime: Any) -> None:
            del state, runtime
            interrupt("may I?")

    model = ScriptedChatModel(["ok"])
    agent = Agent(model=model, middleware=[Gate()], checkpointer=InMemorySaver())
    await run_agent(agent, "go", thread_id="t", generation_kwargs={"seed": 1}, system_prompt="B")
    await resume(run_agent, agent, "yes")
    assert settings_of(model) == {"seed": 1}
    assert model.requests[0][0].text == "B"


async def test_a_pause_before_the_first_step_keeps_the_options(run_agent: Any) -> None:
    model = ScriptedChatModel(["ok", "new"])
    saver = InMemorySaver()
    prompts: dict[str, Any] = {"system_prompt": "For {{ who }}.", "required_variables": None}
    agent = Agent(model=model, checkpointer=saver, interrupt_before=["model"], **prompts)
    await run_agent(agent, "go", thread_id="t", who="Ada", generation_kwargs={"seed": 1})
    assert model.calls == 0
    await run_agent(agent, Command(), thread_id="t")
    assert (settings_of(model), model.requests[0][0].text) == ({"seed": 1}, "For Ada.")
    await run_agent(agent, "next", thread_id="t")
    await run_agent(agent, Command(), thread_id="t")
    assert (settings_of(model), model.requests[1][0].text) == ({}, "For .")


async def test_an_answer_may_bring_other_options_which_stay(run_agent: Any, calling: Any) -> None:
    steps = [calling(("ask", {})), calling(("ask", {}), start=2), "ok"]
    model = ScriptedChatModel(steps)
    agent = Agent(model=model, tools=[search, ask], checkpointer=InMemorySaver())
    first = {"generation_kwargs": {"seed": 1}, "system_prompt": "B"}
    await run_agent(agent, "go", thread_id="t", **first)
    await resume(run_agent, agent, "yes", generation_kwargs={"seed": 2})
    await resume(run_agent, agent, "yes")
    assert [settings_of(model, n) for n in range(3)] == [{"seed": 1}, {"seed": 2}, {"seed": 2}]
    assert model.requests[2][0].text == "B"


async def test_tools_that_a_run_brought_are_given_again_with_the_answer(
    run_agent: Any, calling: Any
) -> None:
    model = ScriptedChatModel([calling(("ask", {})), "ok"])
    agent = Agent(model=model, checkpointer=InMemorySaver())
    await run_agent(agent, "go", thread_id="t", tools=[ask])
    with pytest.raises(InvalidInputError, match="give them again"):
        await resume(run_agent, agent, "yes")
    result = await resume(run_agent, agent, "yes", tools=[ask])
    assert [m.text for m in result["messages"] if isinstance(m, ToolMessage)] == ["yes"]
    assert result["last_message"].text == "ok"


@given(first=st.booleans(), second=st.booleans(), prompt=st.sampled_from([None, "", "B"]))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_paused_run_equals_one_that_did_not_pause(
    calling: Any, first: bool, second: bool, prompt: str | None
) -> None:
    options: dict[str, Any] = {"system_prompt": prompt} if prompt is not None else {}
    if first:
        options["generation_kwargs"] = {"seed": 1}
    if second:
        options["tools"] = ["ask_or_answer"]
    texts: list[Any] = []
    for pauses in (True, False):

        @tool
        def ask_or_answer(pauses: bool = pauses) -> str:
            """Ask."""
            return str(interrupt("?")) if pauses else "yes"

        model = ScriptedChatModel([calling(("ask_or_answer", {"pauses": pauses})), AIMessage("ok")])
        agent = Agent(
            model=model,
            tools=[ask_or_answer, search],
            system_prompt="A",
            checkpointer=InMemorySaver(),
        )
        agent.run("go", thread_id="t", **options)
        if pauses:
            (pause,) = agent.compile().get_state({"configurable": {"thread_id": "t"}}).interrupts
            agent.run(Command(resume={pause.id: "yes"}), thread_id="t")
        sent = [[(m.type, m.text) for m in request] for request in model.requests]
        texts.append((sent, model.options[0].keys(), settings_of(model, 1), offered(model, 1)))
    assert texts[0] == texts[1]
