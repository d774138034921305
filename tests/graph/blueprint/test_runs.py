"""Runs of an `Agent`: inputs, results, and what is refused before anything runs."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.graph import Agent
from interlock.graph.blueprint.arguments import HAYSTACK_ARGUMENTS
from interlock.graph.models import ScriptedChatModel
from interlock.graph.settings import RUN_PARAMETERS
from interlock.state import LEDGER_OUTPUTS, ConfigurationError, InvalidInputError, merge_lists
from interlock.tools import ToolRuntime, tool


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


def translator(model: Any, **settings: Any) -> Agent:
    prompts: Any = {"system_prompt": "Speak {{ language }}.", "user_prompt": "Say: {{ text }}"}
    return Agent(model=model, **{**prompts, **settings})


async def test_state_keys_are_keywords_and_results(run_agent: Any) -> None:
    schema = {"docs": {"type": list[str], "handler": merge_lists}}
    agent = Agent(model=ScriptedChatModel(["ok"]), state_schema=schema)
    result = await run_agent(agent, "go", docs=["a"])
    assert result["docs"] == ["a"]


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"langage": "French"}, "Did you mean 'language'"),
        ({"stop_run": "now"}, "'stop_run'"),
        ({"step_count": 7}, "'step_count'"),
        ({"generation_kwarg": {}}, "Did you mean 'generation_kwargs'"),
    ],
)
async def test_an_unknown_keyword_is_refused(run_agent: Any, given: Any, word: str) -> None:
    model = ScriptedChatModel(["ok"])
    with pytest.raises(TypeError, match=word):
        await run_agent(translator(model), text="x", **given)
    assert model.calls == 0


@pytest.mark.parametrize("name", sorted(HAYSTACK_ARGUMENTS))
def test_an_argument_of_haystack_is_refused_with_what_it_is_here(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name!r}.* Here it is "):
        Agent(model=ScriptedChatModel([])).run("go", **{name: None})


async def test_a_resumed_run_takes_no_input(run_agent: Any) -> None:
    agent = translator(ScriptedChatModel(["ok"]), checkpointer=InMemorySaver())
    with pytest.raises(InvalidInputError, match="leave out text"):
        await run_agent(agent, Command(resume=1), text="x", thread_id="t")


async def test_without_tools_any_reply_ends_the_run(run_agent: Any, calling: Any) -> None:
    result = await run_agent(Agent(model=ScriptedChatModel([calling(("x", {}))])), "go")
    assert (result["exit_reason"], result["step_count"]) == ("text", 1)


async def test_the_first_exit_tool_in_call_order_is_reported(run_agent: Any, calling: Any) -> None:
    @tool
    def save(text: str) -> str:
        """Save."""
        return text

    model = ScriptedChatModel([calling(("search", {"query": "a"}), ("save", {"text": "b"}))])
    agent = Agent(model=model, tools=[search, save], exit_conditions=["save", "search"])
    result = await run_agent(agent, "go")
    assert result["exit_reason"] == "search"
    assert result["tool_call_counts"] == {"search": 1, "save": 1}


async def test_a_failing_tool_is_told_or_raised_as_the_setting_says(
    run_agent: Any, calling: Any
) -> None:
    @tool
    def fail() -> str:
        """Fail."""
        msg = "no carrier"
        raise OSError(msg)

    told = await run_agent(
        Agent(model=ScriptedChatModel([calling(("fail", {})), "ok"]), tools=[fail]), "go"
    )
    assert isinstance(told["messages"][2], ToolMessage)
    assert told["messages"][2].status == "error"
    strict = Agent(
        model=ScriptedChatModel([calling(("fail", {}))]),
        tools=[fail],
        raise_on_tool_invocation_failure=True,
    )
    with pytest.raises(OSError, match="no carrier"):
        await run_agent(strict, "go")


async def test_context_reaches_tools_and_is_no_state(run_agent: Any, calling: Any) -> None:
    seen: list[Any] = []

    @tool
    def look(runtime: ToolRuntime[Any, Any]) -> str:
        """Look."""
        seen.append(runtime.context)
        return "ok"

    lock = object()
    agent = Agent(model=ScriptedChatModel([calling(("look", {})), "ok"]), tools=[look])
    result = await run_agent(agent, "go", context={"lock": lock})
    assert seen == [{"lock": lock}]
    assert "context" not in result


async def test_the_callers_messages_are_not_changed(run_agent: Any) -> None:
    messages = [HumanMessage("hi")]
    await run_agent(translator(ScriptedChatModel(["ok"])), messages, language="x", text="y")
    assert messages == [HumanMessage("hi")]
    assert messages[0].id is None


def test_the_parameters_of_a_run_are_those_that_variables_may_not_be_named_after() -> None:
    parameters = signature(Agent.run).parameters
    assert parameters.keys() - {"self", "inputs"} == RUN_PARAMETERS


def test_a_state_key_may_not_be_a_parameter_of_a_run() -> None:
    with pytest.raises(ConfigurationError, match="'context' is the name of a parameter"):
        Agent(model=ScriptedChatModel([]), state_schema={"context": {"type": str}})


def test_variables_are_part_of_the_input_schema() -> None:
    graph = translator(ScriptedChatModel([]), required_variables=["text"]).compile()
    schema = graph.get_input_jsonschema()
    assert set(schema["properties"]) == {"messages", "language", "text"}
    assert schema["required"] == ["text"]


def test_results_hold_the_messages_and_what_the_run_was() -> None:
    graph = translator(ScriptedChatModel([]), state_schema={"docs": {"type": str}}).compile()
    properties = set(graph.get_output_jsonschema()["properties"])
    assert properties == {"messages", "structured_response", "docs", *LEDGER_OUTPUTS}


def test_an_answer_is_an_ai_message() -> None:
    assert isinstance(Agent(model=ScriptedChatModel(["ok"])).run("hi")["last_message"], AIMessage)
