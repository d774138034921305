"""What a run is given beside its input, and what of it a pause keeps."""

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
from interlock.state import InvalidInputError, InvalidInputTypeError, UnstorableValueError
from interlock.tools import Toolset, tool


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


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


async def test_generation_settings_reach_every_call_of_the_run(
    run_agent: Any, calling: Any
) -> None:
    model = ScriptedChatModel([calling(("search", {"query": "a"})), "ok", "again"])
    agent = Agent(model=model, tools=[search])
    await run_agent(agent, "go", generation_kwargs={"temperature": 0.5, "stop": ["x"]})
    await run_agent(agent, "go")
    assert settings_of(model, 0) == settings_of(model, 1) == {"temperature": 0.5, "stop": ["x"]}
    assert settings_of(model, 2) == {}


async def test_generation_settings_are_merged_key_by_key(run_agent: Any) -> None:
    class Cautious(AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            merged = {"seed": 1, "temperature": 1, **request.model_settings}
            return handler(request.override(model_settings=merged))

    model = ScriptedChatModel(["ok"])
    agent = Agent(model=model, middleware=[Cautious()])
    await run_agent(agent, "go", generation_kwargs={"temperature": 0})
    assert settings_of(model) == {"seed": 1, "temperature": 0}


async def test_no_tools_argument_is_sent_where_there_are_no_tools(run_agent: Any) -> None:
    model = ScriptedChatModel(["ok"])
    await run_agent(Agent(model=model), "go")
    assert "tools" not in model.options[0]


async def test_names_choose_among_the_tools(run_agent: Any, calling: Any) -> None:
    model = ScriptedChatModel([calling(("search", {"query": "a"})), "ok", "all"])
    agent = Agent(model=model, tools=[search, add])
    result = await run_agent(agent, "go", tools=["add"])
    await run_agent(agent, "go")
    refused = result["messages"][2]
    assert offered(model, 0) == ["add"]
    assert (refused.status, "add" in refused.text) == ("error", True)
    assert offered(model, 2) == ["search", "add"]


async def test_tools_of_a_run_stand_in_for_the_agents(run_agent: Any, calling: Any) -> None:
    model = ScriptedChatModel([calling(("add", {"a": 1, "b": 2})), "ok"])
    result = await run_agent(Agent(model=model, tools=[search]), "go", tools=[add])
    assert offered(model) == ["add"]
    assert result["messages"][2].text == "3"


async def test_an_agent_without_tools_takes_some_for_a_run(run_agent: Any, calling: Any) -> None:
    model = ScriptedChatModel([calling(("add", {"a": 1, "b": 2})), "ok"])
    result = await run_agent(Agent(model=model), "go", tools=[add])
    assert result["tool_call_counts"] == {"add": 1}


async def test_a_toolset_of_a_run_is_warmed_up(run_agent: Any) -> None:
    model = ScriptedChatModel(["ok"])
    late = Toolset(lambda: [add], name="late")
    await run_agent(Agent(model=model, tools=[search]), "go", tools=late)
    assert late.loaded
    assert offered(model) == ["add"]


async def test_an_empty_list_means_no_tools(run_agent: Any) -> None:
    model = ScriptedChatModel([""])
    result = await run_agent(Agent(model=model, tools=[search]), "go", tools=[])
    assert "tools" not in model.options[0]
    assert (result["exit_reason"], result["step_count"]) == ("text", 1)


async def test_tools_of_middleware_stay(run_agent: Any) -> None:
    class WithTool(AgentMiddleware):
        tools = (search,)

    model = ScriptedChatModel(["ok"])
    await run_agent(Agent(model=model, middleware=[WithTool()]), "go", tools=[add])
    assert offered(model) == ["search", "add"]


async def test_an_exit_tool_may_come_with_the_run(run_agent: Any, calling: Any) -> None:
    model = ScriptedChatModel([calling(("add", {"a": 1, "b": 2}))])
    with pytest.warns(UserWarning, match="'add' names no tool"):
        agent = Agent(model=model, exit_conditions=["add"])
    result = await run_agent(agent, "go", tools=[add])
    assert (result["exit_reason"], result["step_count"]) == ("add", 1)


@pytest.mark.parametrize(
    ("wanted", "word"), [(["serch"], "Did you mean 'search'"), ("search", "list"), ([7], "7")]
)
async def test_a_wrong_choice_of_tools_is_refused_before_anything_runs(
    run_agent: Any, wanted: Any, word: str
) -> None:
    model = ScriptedChatModel(["ok"])
    with pytest.raises(InvalidInputError, match=word):
        await run_agent(Agent(model=model, tools=[search]), "go", tools=wanted)
    assert model.calls == 0


async def test_generation_settings_must_be_a_dict(run_agent: Any) -> None:
    with pytest.raises(InvalidInputTypeError, match="generation_kwargs"):
        await run_agent(Agent(model=ScriptedChatModel([])), "go", generation_kwargs=["hot"])


@pytest.mark.parametrize(("prompt", "first"), [("Be {{ odd }}.", "Be {{ odd }}."), (None, "A")])
async def test_a_system_prompt_of_the_run_stands_as_it_is(
    run_agent: Any, prompt: Any, first: str
) -> None:
    model = ScriptedChatModel(["ok"])
    await run_agent(Agent(model=model, system_prompt="A"), "go", system_prompt=prompt)
    assert model.requests[0][0].text == first


async def test_an_empty_system_prompt_means_none(run_agent: Any) -> None:
    model = ScriptedChatModel(["ok"])
    await run_agent(Agent(model=model, system_prompt="A"), "go", system_prompt="")
    assert [m.type for m in model.requests[0]] == ["human"]


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


async def test_an_agent_inside_a_tool_does_not_get_the_options(
    run_agent: Any, calling: Any
) -> None:
    inner_model = ScriptedChatModel(["inner"])
    inner = Agent(model=inner_model)

    @tool
    def delegate() -> str:
        """Ask another agent."""
        return str(inner.run("go")["last_message"].text)

    model = ScriptedChatModel([calling(("delegate", {})), "ok"])
    agent = Agent(model=model, tools=[delegate])
    await run_agent(agent, "go", generation_kwargs={"seed": 1}, system_prompt="outer only")
    assert settings_of(inner_model) == {}
    assert [m.type for m in inner_model.requests[0]] == ["human"]


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
