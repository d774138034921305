"""An agent that is written down and read back is the same agent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel

from interlock import middleware as guards
from interlock.graph import Agent, ToolStrategy
from interlock.graph.blueprint.settings import NAMES
from interlock.graph.models import ModelSpec, ScriptedChatModel
from interlock.graph.serialization import Registry
from interlock.graph.serialization.codec import Codec
from interlock.graph.serialization.shipped import shipped_classes
from interlock.state import AgentState, ConfigurationError, merge_lists, replace_values
from interlock.tools import Toolset, tool


@tool
def search(query: str) -> str:
    """Search."""
    return query


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def note(state: Any) -> None:
    del state


def to_text(error: Exception, request: Any) -> str:
    del request
    return str(error)


def longest(current: Any, new: Any) -> Any:
    return max(current or "", new, key=len)


class Own(guards.AgentMiddleware):
    """Middleware of the program."""

    def __init__(self, size: int, *, words: tuple[str, ...] = ()) -> None:
        self.size = size
        self.words = words


class Book(BaseModel):
    title: str


class Larger(AgentState, total=False):
    book: Book


MODEL = ScriptedChatModel([])
TOOLS = Toolset([add], name="numbers")
SAVER, STORE = InMemorySaver(), InMemoryStore()
OWN = Own(1)
REGISTRY = Registry(
    *(search, add, note, to_text, longest, Own, Book, Larger, TOOLS, print),
    model=MODEL,
    saver=SAVER,
    store=STORE,
    own=OWN,
    secrets=["TEAM_KEY"],
    addresses=["https://models.example/v1"],
)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=8) | st.sampled_from(["class", "dict"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
TEXT = st.text(max_size=30).filter(lambda text: "{" not in text)
COUNT = st.integers(1, 2**40)
STRATEGY = st.builds(
    guards.HumanInTheLoopStrategy,
    confirmation_policy=st.builds(
        guards.AskOncePolicy, ttl_s=st.none() | st.integers(1, 9).map(float)
    ),
    confirmation_ui=st.none() | st.builds(guards.SimpleConsoleUI),
)
GUARD = st.one_of(
    st.builds(guards.ModelCallLimitMiddleware, run_limit=COUNT, exit_behavior=st.just("error")),
    st.builds(guards.ModelFallbackMiddleware, st.just(MODEL), st.just(MODEL)),
    st.builds(guards.SummarizationMiddleware, st.just(MODEL), trigger=st.just(("tokens", 3000))),
    st.builds(Own, COUNT, words=st.lists(TEXT, max_size=2).map(tuple)),
    st.just(OWN),
)
SETTINGS: dict[str, st.SearchStrategy[Any]] = {
    "model": st.one_of(
        st.just(MODEL),
        st.just("openai:gpt-5-mini"),
        st.builds(
            ModelSpec,
            st.just("openai:gpt-5-mini"),
            st.fixed_dictionaries(
                {}, optional={"temperature": st.floats(0, 2), "max_tokens": COUNT}
            ),
            st.sampled_from([{}, {"api_key": "TEAM_KEY"}]),
        ),
    ),
    "tools": st.one_of(
        st.none(),
        st.just(TOOLS),
        st.sampled_from([[], [search], [search, {"type": "web", "n": [1]}]]),
    ),
    "system_prompt": st.none() | TEXT | st.builds(SystemMessage, TEXT, name=st.none() | TEXT),
    "user_prompt": st.none() | TEXT,
    "required_variables": st.sampled_from([None, "*"]),
    "middleware": st.lists(GUARD, max_size=3),
    "hooks": st.none()
    | st.dictionaries(st.sampled_from(["before_llm", "on_exit"]), st.just([note])),
    "response_format": st.sampled_from(
        [
            None,
            Book,
            ToolStrategy(Book, max_retries=1),
            {
                "title": "T",
                "type": "object",
                "properties": {"class": {"$ref": "#/$defs/A"}},
                "$defs": {"A": {}},
            },
        ]
    ),
    "state_schema": st.sampled_from(
        [
            None,
            Larger,
            {"docs": {"type": list[str], "handler": merge_lists}, "n": {"type": int | None}},
            {"book": {"type": dict[str, Book]}, "text": {"type": str, "handler": longest}},
            {"kept": {"type": list[int], "handler": replace_values}},
        ]
    ),
    "context_schema": st.sampled_from([None, Book]),
    "checkpointer": st.sampled_from([None, True, SAVER]),
    "store": st.sampled_from([None, STORE]),
    "interrupt_before": st.sampled_from([None, ["model"], ["model", "tools"]]),
    "interrupt_after": st.sampled_from([None, ["model"]]),
    "debug": st.just(False),
    "name": st.none() | st.sampled_from(["a", "b-c"]),
    "cache": st.none(),
    "transformers": st.none(),
    "exit_conditions": st.none() | st.just(["text"]),
    "max_agent_steps": COUNT,
    "max_tokens_total": st.none() | COUNT,
    "final_answer": st.booleans(),
    "on_tool_error": st.sampled_from(["message", "raise", to_text]),
    "tool_concurrency_limit": st.none() | COUNT,
    "message_storage": st.sampled_from(["delta", "full"]),
    "streaming_callback": st.sampled_from([None, print]),
    "stream_tool_results": st.booleans(),
    "confirmation_strategies": st.none() | st.dictionaries(st.just("*"), STRATEGY, max_size=1),
    "raise_on_tool_invocation_failure": st.just(False),
}
AGENT = st.fixed_dictionaries(
    {"model": SETTINGS["model"]}, optional={k: v for k, v in SETTINGS.items() if k != "model"}
)


BY_CONTENT = {"middleware", "confirmation_strategies"}
"""Settings whose objects are equal if they are made of the same."""


def comparable(name: str, value: Any) -> Any:
    return Codec(REGISTRY).write(value, name) if name in BY_CONTENT else value


def test_every_setting_is_tried() -> None:
    assert SETTINGS.keys() == set(NAMES)


@given(chosen=AGENT)
@settings(max_examples=40, deadline=None)
def test_reading_what_was_written_gives_the_same_settings(chosen: dict[str, Any]) -> None:
    agent = Agent(**chosen)
    data = agent.to_dict(REGISTRY)
    again = Agent.from_dict(json.loads(json.dumps(data)), REGISTRY)
    assert again.settings.keys() == agent.settings.keys()
    for name, value in agent.settings.items():
        assert comparable(name, again.settings[name]) == comparable(name, value), name
    assert again.to_dict(REGISTRY) == data
    assert Agent.from_yaml(agent.to_yaml(REGISTRY), REGISTRY).to_dict(REGISTRY) == data


@given(value=PLAIN)
@settings(max_examples=40)
def test_any_plain_argument_comes_back(value: Any) -> None:
    agent = Agent(model=MODEL, middleware=[Own(1, words=(value,))])
    again = Agent.from_yaml(agent.to_yaml(REGISTRY), REGISTRY)
    assert again.settings["middleware"][0].words == (value,)


def test_strategies_for_several_tools_keep_their_keys() -> None:
    strategies = {("search", "add"): guards.HumanInTheLoopStrategy()}
    agent = Agent(model=MODEL, tools=[search, add], confirmation_strategies=strategies)
    again = Agent.from_yaml(agent.to_yaml(REGISTRY), REGISTRY)
    assert list(again.settings["confirmation_strategies"]) == [("search", "add")]


EXAMPLES: dict[str, list[Any]] = {
    "ApprovalMiddleware": [{"*": guards.HumanInTheLoopStrategy()}],
    "AutoModeMiddleware": [],
    "AutoStrategy": [Book],
    "CompactionMiddleware": [guards.SlidingWindowCompactor(), 1000],
    "HumanInTheLoopMiddleware": [{"search": True}],
    "ModelChoice": [MODEL, "hard ones"],
    "ModelFallbackMiddleware": [MODEL],
    "ModerationMiddleware": [note],
    "OffloadOverChars": [10],
    "PIIMiddleware": ["email"],
    "PredicatePolicy": [note],
    "ProviderStrategy": [Book],
    "RequireTool": ["search"],
    "SummarizationCompactor": [MODEL],
    "SummarizationMiddleware": [MODEL],
    "TokenBudgetMiddleware": [100],
    "ToolCallLimitMiddleware": [],
    "ToolErrorMiddleware": [to_text],
    "ToolFirewallMiddleware": [{"search": {"query": {"max_length": 3}}}],
    "ToolStrategy": [Book],
}
OPTIONS: dict[str, dict[str, Any]] = {
    "LLMToolEmulator": {"model": MODEL},
    "MemoryMiddleware": {"user_id": "ada"},
    "ModelCallLimitMiddleware": {"run_limit": 1},
    "ToolCallLimitMiddleware": {"run_limit": 1},
}
PROGRAM_ONLY = {"AutoModeMiddleware", "ModelRouterMiddleware", "ToolResultOffloadCompactor"}


@pytest.mark.parametrize("name", sorted(shipped_classes().keys() - PROGRAM_ONLY))
def test_every_shipped_class_can_be_written_and_read(name: str) -> None:
    made = shipped_classes()[name](*EXAMPLES.get(name, []), **OPTIONS.get(name, {}))
    agent = Agent(model=MODEL, middleware=[Own(1, words=(made,))])
    data = agent.to_dict(REGISTRY)
    again = Agent.from_dict(data, REGISTRY)
    assert type(again.settings["middleware"][0].words[0]) is type(made)
    assert again.to_dict(REGISTRY) == data


@pytest.mark.parametrize(
    ("given_settings", "word"),
    [
        ({"tools": [search]}, "register it"),
        ({"middleware": [Own(1)]}, "its class Own"),
        ({"hooks": {"before_llm": [note]}}, "hooks.before_llm\\[0\\]"),
        ({"state_schema": Larger}, "state_schema"),
        ({"state_schema": {"book": {"type": Book}}}, "Book"),
        ({"checkpointer": SAVER}, "checkpointer"),
        (
            {"middleware": [guards.PIIMiddleware("email", strategy="hash", key="s3cret")]},
            "has a key",
        ),
    ],
)
def test_what_has_no_name_is_refused_with_what_to_register(
    given_settings: dict[str, Any], word: str
) -> None:
    with pytest.raises(ConfigurationError, match=word) as caught:
        Agent(model="openai:gpt-5-mini", **given_settings).to_dict()
    assert "s3cret" not in str(caught.value)
