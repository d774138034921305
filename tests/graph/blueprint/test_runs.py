"""Runs of an ``Agent``: prompts, inputs, results, and what is refused before anything runs."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import Agent, create_agent
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
    prompts: dict[str, Any] = {
        "system_prompt": "Speak {{ language }}.",
        "user_prompt": "Say: {{ text }}",
    }
    return Agent(model=model, **{**prompts, **settings})


def sent(model: ScriptedChatModel, call: int = -1) -> list[tuple[str, str]]:
    return [(m.type, m.text) for m in model.requests[call]]


async def test_variables_are_keywords_of_a_run(run_agent: Any) -> None:
    model = ScriptedChatModel(["Bonjour"])
    result = await run_agent(translator(model), language="French", text="Hello")
    assert sent(model) == [("system", "Speak French."), ("human", "Say: Hello")]
    assert result["last_message"].text == "Bonjour"
    assert (result["exit_reason"], result["step_count"]) == ("text", 1)
    assert "language" not in result


async def test_the_user_prompt_comes_behind_the_messages(run_agent: Any) -> None:
    model = ScriptedChatModel(["ok"])
    result = await run_agent(translator(model), ["one", "two"], language="French", text="three")
    assert [text for _, text in sent(model)][1:] == ["one", "two", "Say: three"]
    assert [m.text for m in result["messages"]] == ["one", "two", "Say: three", "ok"]


@pytest.mark.parametrize("messages", [None, []])
async def test_messages_may_be_left_out_with_a_user_prompt(run_agent: Any, messages: Any) -> None:
    result = await run_agent(
        translator(ScriptedChatModel(["ok"])), messages, language="x", text="y"
    )
    assert len(result["messages"]) == 2


async def test_messages_are_needed_without_a_user_prompt(run_agent: Any) -> None:
    model = ScriptedChatModel(["ok"])
    with pytest.raises(InvalidInputError, match="needs 'messages'"):
        await run_agent(Agent(model=model))
    assert model.calls == 0


async def test_a_missing_variable_is_refused_before_anything_runs(run_agent: Any) -> None:
    model = ScriptedChatModel(["ok"])
    with pytest.raises(InvalidInputError, match="need language; given were text"):
        await run_agent(translator(model), text="x")
    assert model.calls == 0


async def test_a_system_prompt_that_cannot_be_rendered_is_refused_before_anything_runs(
    run_agent: Any,
) -> None:
    model = ScriptedChatModel(["ok"])
    saver = InMemorySaver()
    agent = Agent(model=model, system_prompt="{{ 1 // number }}", checkpointer=saver)
    with pytest.raises(InvalidInputError, match="system_prompt cannot be rendered"):
        await run_agent(agent, "go", number=0, thread_id="t")
    assert (model.calls, list(saver.list(None))) == (0, [])


async def test_optional_variables_write_nothing(run_agent: Any) -> None:
    model = ScriptedChatModel(["ok"])
    await run_agent(translator(model, required_variables=None))
    assert sent(model) == [("system", "Speak ."), ("human", "Say: ")]


async def test_the_system_prompt_stays_for_the_whole_run_and_is_not_stored(
    run_agent: Any, calling: Any
) -> None:
    model = ScriptedChatModel([calling(("search", {"query": "a"})), "ok"])
    agent = Agent(
        model=model, tools=[search], system_prompt="For {{ who }}.", checkpointer=InMemorySaver()
    )
    result = await run_agent(agent, "go", who="Ada", thread_id="t")
    assert [sent(model, n)[0] for n in (0, 1)] == [("system", "For Ada.")] * 2
    assert not any(isinstance(m, SystemMessage) for m in result["messages"])


async def test_each_run_of_a_thread_renders_the_system_prompt_anew(run_agent: Any) -> None:
    model = ScriptedChatModel(["ok", "ok", "ok"])
    agent = Agent(
        model=model,
        system_prompt="For {{ who }}.",
        required_variables=None,
        checkpointer=InMemorySaver(),
    )
    await run_agent(agent, "one", who="Ada", thread_id="t")
    await run_agent(agent, "two", who="Bob", thread_id="t")
    await run_agent(agent, "three", thread_id="t")
    assert [sent(model, n)[0][1] for n in range(3)] == ["For Ada.", "For Bob.", "For ."]


async def test_a_pause_keeps_the_rendered_system_prompt(run_agent: Any, calling: Any) -> None:
    @tool
    def ask() -> str:
        """Ask."""
        return str(interrupt("well?"))

    model = ScriptedChatModel([calling(("ask", {})), "ok"])
    agent = Agent(
        model=model, tools=[ask], system_prompt="For {{ who }}.", checkpointer=InMemorySaver()
    )
    paused = await run_agent(agent, "go", who="Ada", thread_id="t")
    (pause,) = paused["__interrupt__"]
    await run_agent(agent, Command(resume={pause.id: "yes"}), thread_id="t")
    assert sent(model)[0] == ("system", "For Ada.")


async def test_a_system_message_of_the_caller_joins_the_agents_own(run_agent: Any) -> None:
    model = ScriptedChatModel(["ok"])
    messages = [
        SystemMessage("Be brief."),
        SystemMessage([{"type": "text", "text": "Be kind."}]),
        "hi",
    ]
    await run_agent(Agent(model=model, system_prompt="Be right."), messages)
    (system, human) = model.requests[0]
    assert isinstance(system, SystemMessage)
    assert [b["text"] for b in system.content_blocks if b["type"] == "text"] == [
        "Be right.",
        "Be brief.",
        "Be kind.",
    ]
    assert human.text == "hi"


async def test_a_system_message_later_in_the_conversation_stays_there(run_agent: Any) -> None:
    model = ScriptedChatModel(["ok"])
    await run_agent(Agent(model=model, system_prompt="A"), ["hi", SystemMessage("B")])
    assert sent(model) == [("system", "A"), ("human", "hi"), ("system", "B")]


async def test_a_prompt_message_keeps_its_name_and_meta(run_agent: Any) -> None:
    model = ScriptedChatModel(["ok"])
    prompt = '{% message role="system" name="house" meta={"v": 2} %}Rule {{ n }}{% endmessage %}'
    await run_agent(Agent(model=model, system_prompt=prompt), "hi", n=1)
    system = model.requests[0][0]
    assert (system.text, system.name, system.additional_kwargs) == ("Rule 1", "house", {"v": 2})


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


@pytest.mark.parametrize("name", ["config", "context", "tools", "messages", "step_count", "docs"])
def test_a_variable_may_not_stand_for_something_else(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"variable {name!r}"):
        Agent(
            model=ScriptedChatModel([]),
            user_prompt=f"{{{{ {name} }}}}",
            state_schema={"docs": {"type": str}},
        )


def test_a_state_key_may_not_be_a_parameter_of_a_run() -> None:
    with pytest.raises(ConfigurationError, match="'context' is the name of a parameter"):
        Agent(model=ScriptedChatModel([]), state_schema={"context": {"type": str}})


async def test_braces_of_create_agent_mean_themselves(run: Any) -> None:
    model = ScriptedChatModel(["ok"])
    await run(
        create_agent(model, system_prompt="Use {{ braces }} and {% these %}"), {"messages": "go"}
    )
    assert sent(model)[0] == ("system", "Use {{ braces }} and {% these %}")


async def test_create_agent_takes_templates_with_a_user_prompt(run: Any) -> None:
    model = ScriptedChatModel(["ok"])
    agent = create_agent(model, system_prompt="Speak {{ language }}.", user_prompt="{{ text }}")
    result = await run(agent, {"language": "Welsh", "text": "Hello"})
    assert sent(model) == [("system", "Speak Welsh."), ("human", "Hello")]
    assert result.keys().isdisjoint({"language", "text"})


async def test_create_agent_takes_templates_with_required_variables(run: Any) -> None:
    model = ScriptedChatModel(["ok"])
    agent = create_agent(model, system_prompt="Speak {{ language }}.", required_variables=None)
    await run(agent, {"messages": "go"})
    assert sent(model)[0] == ("system", "Speak .")


def test_variables_are_part_of_the_input_schema() -> None:
    graph = translator(ScriptedChatModel([]), required_variables=["text"]).compile()
    schema = graph.get_input_jsonschema()
    assert set(schema["properties"]) == {"messages", "language", "text"}
    assert schema["required"] == ["text"]


def test_results_hold_the_messages_and_what_the_run_was() -> None:
    graph = translator(ScriptedChatModel([]), state_schema={"docs": {"type": str}}).compile()
    properties = set(graph.get_output_jsonschema()["properties"])
    assert properties == {"messages", "structured_response", "docs", *LEDGER_OUTPUTS}


async def test_no_run_sees_the_variables_of_another(run_agent: Any) -> None:
    model = ScriptedChatModel(["ok", "ok"])
    agent = translator(model, required_variables=["text"])
    await run_agent(agent, language="French", text="a")
    await run_agent(agent, text="b")
    assert sent(model) == [("system", "Speak ."), ("human", "Say: b")]


async def test_hooks_do_not_see_variables_but_the_messages_they_made(run_agent: Any) -> None:
    seen: list[Any] = []

    def look(state: Any) -> None:
        seen.append((sorted(state), [m.text for m in state["messages"]]))

    agent = translator(ScriptedChatModel(["ok"]), hooks={"before_run": [look]})
    await run_agent(agent, language="French", text="a")
    keys, texts = seen[0]
    assert texts == ["Say: a"]
    assert not {"language", "text", "run_options"} & set(keys)


def test_an_answer_is_an_ai_message() -> None:
    assert isinstance(Agent(model=ScriptedChatModel(["ok"])).run("hi")["last_message"], AIMessage)
