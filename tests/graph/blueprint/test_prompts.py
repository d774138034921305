"""Prompts of an `Agent`: their variables, what the model is sent, and what is not stored."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import Agent, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.state import ConfigurationError, InvalidInputError
from interlock.tools import tool


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


def translator(model: Any, **settings: Any) -> Agent:
    prompts: Any = {"system_prompt": "Speak {{ language }}.", "user_prompt": "Say: {{ text }}"}
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


@pytest.mark.parametrize("name", ["config", "context", "tools", "messages", "step_count", "docs"])
def test_a_variable_may_not_stand_for_something_else(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"variable {name!r}"):
        Agent(
            model=ScriptedChatModel([]),
            user_prompt=f"{{{{ {name} }}}}",
            state_schema={"docs": {"type": str}},
        )


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
