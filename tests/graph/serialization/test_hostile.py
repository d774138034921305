"""A hostile file gets a clear error and nothing else."""

from __future__ import annotations

import builtins
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.graph import Agent
from interlock.graph.models import ModelSpec, ScriptedChatModel
from interlock.graph.serialization import Registry
from interlock.middleware import AgentMiddleware
from interlock.state import ConfigurationError, InvalidInputError

REGISTRY = Registry(model=ScriptedChatModel(["ok"], repeat_last=True))
OURS = (".", "interlock", "langchain_core", "langgraph", "jinja2", "yaml", "pydantic")
NAMED = {"registered": "model"}


def stored(**settings: Any) -> dict[str, Any]:
    return {"interlock": 1, "agent": {"model": NAMED, **settings}}


@pytest.fixture
def nothing_happens(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail if anything is imported by name, opened or started."""
    happened: list[str] = []

    def alarm(name: str, real: Any) -> Any:
        def ring(*args: Any, **options: Any) -> Any:
            if str(args[0]).startswith(OURS) or str(args[0]).endswith(".py"):
                # A part of the library that is loaded when it is first needed.
                return real(*args, **options)
            happened.append(f"{name}{args[:1]}")
            raise AssertionError(happened)

        return ring

    for owner, name in (
        (importlib, "import_module"),
        (builtins, "open"),
        (os, "system"),
        (subprocess, "Popen"),
    ):
        monkeypatch.setattr(owner, name, alarm(name, getattr(owner, name)))
    known = set(sys.modules)
    yield
    assert happened == []
    assert not {m for m in set(sys.modules) - known if m.split(".")[0] in ("antigravity", "this")}


FORMS: list[Any] = [
    None,
    [],
    "agent",
    {},
    {"interlock": 1},
    {"interlock": 2, "agent": {"model": NAMED}},
    {"interlock": True, "agent": {"model": NAMED}},
    {"interlock": "1", "agent": {"model": NAMED}},
    {"interlock": 1, "agent": []},
    {"interlock": 1, "agent": {"model": NAMED}, "unsafe": True},
    {"interlock": 1, "agent": {}},
    {"interlock": 1, "agent": {"model": None}},
    {"type": "haystack.components.agents.Agent", "init_parameters": {}},
    {"lc": 1, "type": "constructor", "id": ["os", "system"], "kwargs": {}},
]
REACHING: list[dict[str, Any]] = [
    {"model": {"class": "OpenAICompatibleChatModel", "model": "x"}},
    {"model": "os:system"},
    {"model": {"model": "openai:gpt-5-mini", "settings": {"base_url": "https://evil.example"}}},
    {"model": {"model": "openai:gpt-5-mini", "settings": {"proxy": "http://evil.example"}}},
    {"model": {"model": "openai:gpt-5-mini", "settings": {"default_headers": {"a": "b"}}}},
    {"model": {"model": "openai:gpt-5-mini", "settings": {"ca_file": "/etc/passwd"}}},
    {"model": {"model": "openai:gpt-5-mini", "settings": {"model_kwargs": {}}}},
    {"model": {"model": "openai:gpt-5-mini", "secrets": {"user": "HOME"}}},
    {"model": {"model": "openai:gpt-5-mini", "settings": {"api_key": {"env": "HOME"}}}},
    {"model": {"model": "openai:gpt-5-mini", "unsafe": True}},
    {"model": {"model": {"registered": "model"}}},
    {"tools": ["os.system"]},
    {"tools": [{"registered": "os.system"}]},
    {"tools": [{"class": "ShellToolMiddleware"}]},
    {"tools": [["search"]]},
    {"tools": "subprocess"},
    {"middleware": [{"class": "ShellToolMiddleware", "workspace_root": "/"}]},
    {"middleware": [{"class": "FilesystemFileSearchMiddleware", "root_path": "/"}]},
    {"middleware": [{"class": "BreakpointMiddleware", "break_point": None}]},
    {"middleware": [{"class": "interlock.middleware.ShellToolMiddleware"}]},
    {"middleware": [{"class": "AgentMiddleware", "tools": ["x"]}]},
    {"middleware": [{"class": ["ModelCallLimitMiddleware"]}]},
    {"middleware": [{"class": "ModelCallLimitMiddleware", "run_limit": "many"}]},
    {"middleware": [{"class": "ModelCallLimitMiddleware", "__class__": "x"}]},
    {"middleware": [{"class": "ModelCallLimitMiddleware", "run_limit": 1, "self": 2}]},
    {
        "middleware": [
            {
                "class": "ToolResultOffloadMiddleware",
                "store": {"class": "FileSystemToolResultStore", "root": "/"},
            }
        ]
    },
    {"middleware": [{"class": "RequireTool", "tool": "x", "instruction": "{tool.__class__}"}]},
    {"middleware": [{"class": "RequireTool", "tool": "x", "instruction": "{tool:>999999999}"}]},
    {"middleware": [{"class": "RequireTool", "tool": "x", "instruction": "{tool[0]}"}]},
    {"middleware": [{}]},
    {"middleware": [7]},
    {"middleware": {"a": 1}},
    {"middleware": "ModelCallLimitMiddleware"},
    {"hooks": {"before_llm": ["print"]}},
    {"hooks": {"before_llm": [{"registered": "builtins.print"}]}},
    {"hooks": ["print"]},
    {"hooks": {"before_llm": "print"}},
    {"state_schema": "AgentState"},
    {"state_schema": {"x": {"type": "__import__('os').system('true')"}}},
    {"state_schema": {"x": {"type": "os.environ"}}},
    {"state_schema": {"x": {"type": "list[" * 300 + "int" + "]" * 300}}},
    {"state_schema": {"x": {"type": "str", "handler": "eval"}}},
    {"state_schema": {"x": "str"}},
    {"state_schema": {"x": {"type": 7}}},
    {"state_schema": {"tools": {"type": "str"}}},
    {"context_schema": "os"},
    {"response_format": "subprocess.Popen"},
    {"response_format": {"class": "Popen", "args": ["true"]}},
    {"checkpointer": "shelve"},
    {"checkpointer": {"class": "SqliteSaver", "path": "/x"}},
    {"checkpointer": 1},
    {"checkpointer": {}},
    {"store": {}},
    {"store": ["x"]},
    {"cache": 7},
    {"context_schema": {"a": "int"}},
    {"message_storage": "tape"},
    {"interrupt_before": ["nowhere"]},
    {"required_variables": 7},
    {"on_tool_error": "ignore"},
    {"on_tool_error": {"registered": "eval"}},
    {"streaming_callback": "print"},
    {"transformers": ["print"]},
    {"cache": {"class": "InMemoryCache"}},
    {"system_prompt": {"content": "x", "type": "system", "lc": 1}},
    {"system_prompt": {"registered": "model"}},
    {"system_prompt": 7},
    {"system_prompt": "{{"},
    {"user_prompt": "{% include '/etc/passwd' %}"},
    {"user_prompt": "{{ lipsum.__globals__ }}"},
    {"user_prompt": ["x"]},
    {"exit_conditions": "text"},
    {"max_agent_steps": "many"},
    {"max_agent_steps": -1},
    {"no_such_setting": 1},
    {"__class__": "x"},
    {
        "confirmation_strategies": {
            "*": {"class": "BreakpointConfirmationStrategy", "snapshot_file_path": "/"}
        }
    },
    {
        "confirmation_strategies": {
            "*": {"class": "HumanInTheLoopStrategy", "reject_template": "{tool_name.__class__}"}
        }
    },
    {"name": {"tuple": 7}},
    {"name": {"set": [[]]}},
    {"name": {"dict": [[1]]}},
    {"name": {"dict": [[[], 1]]}},
    {"name": {"tuple": [], "set": []}},
    {"name": {1: 2}},
    {"name": b"bytes"},
    {"name": object()},
]


@pytest.mark.usefixtures("nothing_happens")
@pytest.mark.parametrize("data", FORMS, ids=range(len(FORMS)))
def test_what_is_no_stored_agent_is_refused(data: Any) -> None:
    with pytest.raises(ConfigurationError):
        Agent.from_dict(data, REGISTRY)


@pytest.mark.usefixtures("nothing_happens")
@pytest.mark.parametrize("given_settings", REACHING, ids=range(len(REACHING)))
def test_what_reaches_for_more_is_refused(
    given_settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "s3cret")
    with pytest.raises(ConfigurationError) as caught:
        Agent.from_dict(stored(**given_settings), REGISTRY).compile()
    assert "s3cret" not in str(caught.value)


WRONG_TYPES: list[dict[str, Any]] = [
    {"class": "HumanInTheLoopMiddleware", "interrupt_on": None},
    {"class": "ModelFallbackMiddleware", "first_model": "openai:x", "additional_models": None},
    {"class": "SlidingWindowCompactor", "omission_note": True},
    {"class": "TodoListMiddleware", "tool_description": None},
    {"class": "ToolResultOffloadMiddleware", "store": None, "offload_strategies": True},
]


@pytest.mark.parametrize("entry", WRONG_TYPES, ids=lambda e: e["class"])
def test_an_argument_of_a_wrong_type_is_an_error_of_ours(entry: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        Agent.from_dict(stored(middleware=[entry]), REGISTRY)


def test_a_list_inside_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for setting in ("name", "response_format", "tools"):
        with pytest.raises(ConfigurationError, match="levels deep"):
            Agent.from_dict(
                stored(**{setting: {"dict": endless} if setting != "tools" else [{"a": endless}]}),
                REGISTRY,
            )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["registered", "class", "model", "tuple", "set", "dict", "type", "x"]),
            inner | st.sampled_from(["model", "RequireTool", "HumanInTheLoopStrategy", "str"]),
            max_size=3,
        )
    ),
    max_leaves=8,
)
SETTING = st.sampled_from(
    ["middleware", "hooks", "tools", "state_schema", "response_format", "name", "system_prompt"]
)


@given(chosen=st.dictionaries(SETTING, JSON, max_size=3))
@settings(max_examples=150, deadline=None)
def test_any_data_is_read_or_refused_with_our_own_error(chosen: dict[str, Any]) -> None:
    try:
        agent = Agent.from_dict(stored(**chosen), REGISTRY)
    except ConfigurationError:
        return
    assert agent.to_dict(REGISTRY)["interlock"] == 1


@given(text=st.text(alphabet="{}[]:,-!&*#|>'\"%@` \n abc123", max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_or_refused_with_our_own_error(text: str) -> None:
    with pytest.raises(ConfigurationError):
        Agent.from_yaml(text, REGISTRY)


def test_a_template_of_a_file_reaches_nothing_when_it_runs() -> None:
    data = stored(user_prompt="{{ x.__class__.__mro__ }}{{ y() }}")
    agent = Agent.from_dict(data, REGISTRY)
    with pytest.raises(InvalidInputError, match="cannot be rendered"):
        agent.run(x="x", y=print)


def test_a_secret_is_read_only_where_the_program_allows_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEAM_KEY", "s3cret")
    data = stored(model={"model": "openai:gpt-5-mini", "secrets": {"api_key": "TEAM_KEY"}})
    with pytest.raises(ConfigurationError, match="Registry\\(secrets="):
        Agent.from_dict(data)
    model = Agent.from_dict(data, Registry(secrets=["TEAM_KEY"])).settings["model"]
    assert isinstance(model, ModelSpec)
    assert model.build().api_key.get_secret_value() == "s3cret"  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]


def test_an_address_is_used_only_where_the_program_allows_it() -> None:
    settings_given = {"base_url": "https://models.example/v1/"}
    data = stored(model={"model": "openai:gpt-5-mini", "settings": settings_given})
    with pytest.raises(ConfigurationError, match="Registry\\(addresses="):
        Agent.from_dict(data)
    Agent.from_dict(data, Registry(addresses=["https://models.example/v1"]))


def test_a_class_that_the_program_registers_may_be_named() -> None:
    class Own(AgentMiddleware):
        def __init__(self, size: int) -> None:
            self.size = size

    data = stored(middleware=[{"class": "Own", "size": 3}])
    with pytest.raises(ConfigurationError, match="'Own', which is not registered"):
        Agent.from_dict(data, REGISTRY)
    registry = Registry(Own, model=ScriptedChatModel([]))
    assert Agent.from_dict(data, registry).settings["middleware"][0].size == 3
