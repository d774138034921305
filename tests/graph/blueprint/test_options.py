"""What a run is given beside its input: settings, tools and a system prompt."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.graph import Agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware
from interlock.state import InvalidInputError, InvalidInputTypeError
from interlock.tools import Toolset, tool


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def offered(model: ScriptedChatModel, call: int = -1) -> list[str]:
    return [t["function"]["name"] for t in model.options[call].get("tools", [])]


def settings_of(model: ScriptedChatModel, call: int = -1) -> dict[str, Any]:
    return {k: v for k, v in model.options[call].items() if k not in ("tools", "tool_choice")}


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
