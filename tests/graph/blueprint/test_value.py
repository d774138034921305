"""An ``Agent`` as a value: its settings, what is refused, and its copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from interlock.graph import Agent
from interlock.graph.blueprint.settings import HAYSTACK_SETTINGS, NAMES, OWN_DEFAULTS
from interlock.graph.models import ScriptedChatModel
from interlock.graph.settings import DEFAULTS
from interlock.middleware import AlwaysAskPolicy, HumanInTheLoopStrategy, ModelCallLimitMiddleware
from interlock.state import ConfigurationError, ToolDefinitionError, merge_lists
from interlock.state.ledger import RESERVED_KEYS
from interlock.tools import tool


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


def note(state: Any) -> None:
    del state


def to_text(error: Exception, request: Any) -> str:
    del request
    return str(error)


FULL: dict[str, Any] = {
    "model": ScriptedChatModel([]),
    "tools": [search],
    "system_prompt": "Be {{ how }}.",
    "user_prompt": "{{ question }}",
    "required_variables": ["how"],
    "middleware": [ModelCallLimitMiddleware(run_limit=3)],
    "hooks": {"before_llm": [note]},
    "state_schema": {"docs": {"type": list[str], "handler": merge_lists}},
    "exit_conditions": ["text", "search"],
    "max_agent_steps": 7,
    "interrupt_before": ["tools"],
}
OTHER: dict[str, Any] = {
    "model": ScriptedChatModel([]),
    "tools": [search, {"type": "web_search"}],
    "system_prompt": "Be kind.",
    "user_prompt": "{{ how }}",
    "required_variables": None,
    "middleware": [],
    "hooks": None,
    "state_schema": None,
    "exit_conditions": ["text"],
    "max_agent_steps": 8,
    "interrupt_before": None,
    "name": "other",
    "streaming_callback": print,
    "checkpointer": InMemorySaver(),
}


def test_settings_are_keywords_only() -> None:
    with pytest.raises(TypeError):
        Agent(ScriptedChatModel([]))  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def test_a_name_that_is_no_setting_is_refused() -> None:
    with pytest.raises(TypeError, match="Did you mean 'max_agent_steps'"):
        Agent(model=ScriptedChatModel([]), max_agent_step=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize("with_model", [True, False])
@pytest.mark.parametrize("name", sorted(HAYSTACK_SETTINGS))
def test_a_setting_of_haystack_is_refused_with_what_it_is_here(name: str, with_model: bool) -> None:
    given: dict[str, Any] = {"model": ScriptedChatModel([])} if with_model else {}
    given[name] = None
    with pytest.raises(TypeError, match=f"{name!r}. Here it is {HAYSTACK_SETTINGS[name]}"):
        Agent(**given)


def test_an_agent_without_a_model_is_refused() -> None:
    with pytest.raises(TypeError, match="Agent needs a model"):
        Agent(tools=[search])


def test_every_setting_of_create_agent_is_one_of_agent() -> None:
    assert set(NAMES) == {"model", "tools", *DEFAULTS, *OWN_DEFAULTS}
    assert set(cast("Any", Agent.__init__).__kwdefaults__) == {"model", "tools"}


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"max_agent_steps": 0}, "max_agent_steps"),
        ({"tool_concurrency_limit": 0}, "tool_concurrency_limit"),
        ({"system_prompt": "{{"}, "system_prompt"),
        ({"required_variables": ["x"]}, "'x'"),
        ({"hooks": {"before_lunch": [note]}}, "before_lunch"),
        ({"tools": [search], "exit_conditions": ["serch"]}, "Did you mean 'search'"),
        ({"streaming_callback": 7}, "streaming_callback"),
        ({"confirmation_strategies": {"search": 7}}, "strategy"),
        (
            {"on_tool_error": to_text, "raise_on_tool_invocation_failure": True},
            "give one of them",
        ),
    ],
)
@pytest.mark.parametrize("model", ["openai:gpt-5-mini", ScriptedChatModel([])])
def test_a_wrong_setting_is_refused_when_the_agent_is_made(
    model: Any, wrong: dict[str, Any], word: str
) -> None:
    with pytest.raises(ConfigurationError, match=word):
        Agent(model=model, **wrong)


@pytest.mark.parametrize("key", sorted(RESERVED_KEYS))
def test_a_reserved_key_is_refused(key: str) -> None:
    with pytest.raises(ConfigurationError, match=key):
        Agent(model=ScriptedChatModel([]), state_schema={key: {"type": int}})


def test_two_tools_of_one_name_are_refused() -> None:
    @tool("search")
    def other(query: str) -> str:
        """Search elsewhere."""
        return query

    with pytest.raises(ToolDefinitionError, match="named 'search'"):
        Agent(model=ScriptedChatModel([]), tools=[search, other])


def test_a_model_by_name_is_looked_up_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    agent = Agent(model="openai:gpt-5-mini")
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        agent.compile()
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert agent.compile() is agent.compile()


class Plain(BaseChatModel):
    """A model without tools."""

    @property
    def _llm_type(self) -> str:
        return "plain"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        del args, kwargs
        return ChatResult(generations=[ChatGeneration(message=AIMessage("ok"))])


def test_a_model_that_takes_no_tools_will_do_without_any() -> None:
    assert Agent(model=Plain()).run("go")["last_message"].text == "ok"


async def test_a_model_that_takes_no_tools_is_refused_with_some(run_agent: Any) -> None:
    with pytest.raises(ConfigurationError, match="'Plain' cannot be given tools"):
        Agent(model=Plain(), tools=[search])
    with pytest.raises(ConfigurationError, match="'Plain' cannot be given tools"):
        await run_agent(Agent(model=Plain()), "go", tools=[search])


def test_a_copy_has_the_same_settings() -> None:
    agent = Agent(**FULL)
    copy = agent.clone()
    assert copy is not agent
    assert copy.settings == agent.settings


@pytest.mark.parametrize("name", sorted(OTHER))
def test_an_override_changes_that_setting_and_no_other(name: str) -> None:
    given: dict[str, Any] = {**FULL, "required_variables": None}
    agent = Agent(**given)
    changed = agent.clone(**{name: OTHER[name]}).settings
    assert changed[name] == OTHER[name]
    assert {k: v for k, v in changed.items() if k != name} == {
        k: v for k, v in agent.settings.items() if k != name
    }


def test_an_override_that_is_no_setting_is_refused() -> None:
    with pytest.raises(TypeError, match="Did you mean 'system_prompt'"):
        Agent(**FULL).clone(system_promt="x")


def containers(value: Any) -> list[Any]:
    """List every mutable container in a value."""
    if not isinstance(value, (dict, list)):
        return []
    inside: list[Any] = list(cast("Any", value.values() if isinstance(value, dict) else value))
    return [value, *(c for v in inside for c in containers(v))]


def itself(agent: Agent) -> Agent:
    return agent


@pytest.mark.parametrize("make", [Agent.clone, itself])
def test_no_two_agents_share_a_container(make: Callable[[Agent], Agent]) -> None:
    agent = Agent(**FULL)
    one = containers(make(agent).settings)
    others = [*containers(agent.settings), *containers(FULL)]
    assert len(one) > 5
    assert not any(c is other for c in one for other in others)


def test_the_lists_that_an_agent_was_made_of_may_change() -> None:
    tools: list[Any] = [search]
    agent = Agent(model=ScriptedChatModel(["ok"]), tools=tools)
    tools.clear()
    assert agent.settings["tools"] == [search]
    agent.settings["tools"].clear()
    assert agent.clone().settings["tools"] == [search]


async def test_confirmation_strategies_guard_their_tools(run_agent: Any, calling: Any) -> None:
    strategies = {"search": HumanInTheLoopStrategy(confirmation_policy=AlwaysAskPolicy())}
    agent = Agent(
        model=ScriptedChatModel([calling(("search", {"query": "a"})), "ok"]),
        tools=[search],
        confirmation_strategies=strategies,
        checkpointer=InMemorySaver(),
    )
    result = await run_agent(agent, "go", thread_id="t")
    assert len(result["__interrupt__"]) == 1
    assert result["messages"][-1].tool_calls


@pytest.mark.parametrize(
    ("model", "shown"),
    [("openai:gpt-5-mini", "openai:gpt-5-mini"), (ScriptedChatModel([]), "ScriptedChatModel")],
)
def test_it_shows_its_name_and_model_and_no_secret(model: Any, shown: str) -> None:
    agent = Agent(model=model, name="desk", system_prompt="The code is 4711.")

    assert repr(agent) == f"Agent(name='desk', model={shown})"
