from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import create_agent
from interlock.middleware import LLMToolSelectorMiddleware
from interlock.state.errors import ConfigurationError, StructuredOutputError

Run = Callable[..., Awaitable[dict[str, Any]]]
Scripted = Callable[..., Any]
Calling = Callable[..., AIMessage]


def _tool(name: str) -> BaseTool:
    @tool(name, description=f"Does {name}.")
    def act() -> str:
        return name

    return act


TOOLS = [_tool(name) for name in ("cook", "fly", "read", "swim")]


class Selector(Runnable[Any, Any]):
    """Answers with selections, and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[list[BaseMessage]] = []
        self.schemas: list[dict[str, Any]] = []

    def bind_tools(self, tools: Sequence[Any]) -> Any:
        raise NotImplementedError

    def with_structured_output(self, schema: dict[str, Any]) -> Runnable[Any, Any]:
        self.schemas.append(schema)
        return RunnableLambda(self._answer)

    def invoke(self, input: Any, config: Any = None, **_: Any) -> Any:  # noqa: ARG002
        return self._answer(input)

    def _answer(self, messages: list[BaseMessage]) -> Any:
        self.asked.append(messages)
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


def _selector(model: Selector, **settings: Any) -> LLMToolSelectorMiddleware:
    given: Any = model
    return LLMToolSelectorMiddleware(model=given, **settings)


def _as_a_list(answer: Any) -> list[str]:
    return [answer["tools"]]


def _offered(model: Any) -> list[list[str]]:
    return [[t.name for t in options.get("tools", [])] for options in model.options]


async def test_model_is_offered_the_selected_tools(run: Run, scripted: Scripted) -> None:
    model, selector = scripted("done"), Selector({"tools": ["swim", "cook"]})
    agent = create_agent(model, TOOLS, middleware=[_selector(selector)])
    await run(agent, {"messages": "dinner at the lake"})
    assert _offered(model) == [["cook", "swim"]]
    assert selector.asked[0][-1].text == "dinner at the lake"
    assert selector.schemas[0]["properties"]["tools"]["items"]["enum"] == [
        "cook",
        "fly",
        "read",
        "swim",
    ]


@pytest.mark.parametrize(
    ("settings", "offered"),
    [
        ({"max_tools": 1}, ["swim"]),
        ({"max_tools": 1, "always_include": ["read"]}, ["swim", "read"]),
        ({"always_include": ["fly", "read"]}, ["cook", "swim", "fly", "read"]),
    ],
)
async def test_how_many_are_offered(
    run: Run, scripted: Scripted, settings: dict[str, Any], offered: list[str]
) -> None:
    model, selector = scripted("done"), Selector({"tools": ["swim", "swim", "cook"]})
    agent = create_agent(model, TOOLS, middleware=[_selector(selector, **settings)])
    await run(agent, {"messages": "hi"})
    assert _offered(model) == [offered]


@pytest.mark.parametrize(("every_call", "asked"), [(False, 1), (True, 3)])
async def test_selection_is_kept_for_the_task_unless_asked_for_each_call(
    run: Run,
    scripted: Scripted,
    calling: Calling,
    every_call: bool,
    asked: int,
) -> None:
    model = scripted(calling(("cook", {})), calling(("cook", {}), start=2), "done")
    selector = Selector({"tools": ["cook"]})
    guard = _selector(selector, every_call=every_call)
    await run(create_agent(model, TOOLS, middleware=[guard]), {"messages": "hi"})
    assert len(selector.asked) == asked
    assert _offered(model) == [["cook"]] * 3


async def test_two_selectors_narrow_one_after_the_other(run: Run, scripted: Scripted) -> None:
    wide, narrow = Selector({"tools": ["cook", "fly"]}), Selector({"tools": ["fly"]})
    model = scripted("done")
    agent = create_agent(model, TOOLS, middleware=[_selector(wide), _selector(narrow)])
    await run(agent, {"messages": "hi"})
    assert _offered(model) == [["fly"]]


async def test_selection_survives_a_pause_and_ends_with_the_next_task(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    @tool
    def ask() -> str:
        """Ask a person."""
        return str(interrupt("go on?"))

    model = scripted(calling(("ask", {})), "one", "two")
    selector = Selector({"tools": ["ask"]}, {"tools": ["fly"]})
    agent = create_agent(
        model, [*TOOLS, ask], middleware=[_selector(selector)], checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "t"}}
    await run(agent, {"messages": "first"}, config)
    await run(agent, Command(resume="yes"), config)
    await run(agent, {"messages": "second"}, config)
    assert [messages[-1].text for messages in selector.asked] == ["first", "second"]
    assert _offered(model) == [["ask"], ["ask"], ["fly"]]


async def test_conversation_without_a_person_is_no_error(run: Run, scripted: Scripted) -> None:
    model, selector = scripted("done"), Selector({"tools": ["read"]})
    agent = create_agent(model, TOOLS, middleware=[_selector(selector)])
    await run(agent, {"messages": [AIMessage("Read the book.")]})
    assert isinstance(selector.asked[0][-1], HumanMessage)
    assert _offered(model) == [["read"]]


@pytest.mark.parametrize(
    "bad", [{}, None, {"tools": "cook"}, {"tools": ["drive"]}, OutputParserException("no JSON")]
)
async def test_unusable_answer_is_asked_for_again(run: Run, scripted: Scripted, bad: Any) -> None:
    model, selector = scripted("done"), Selector(bad, {"tools": ["cook"]})
    await run(create_agent(model, TOOLS, middleware=[_selector(selector)]), {"messages": "hi"})
    assert _offered(model) == [["cook"]]
    assert len(selector.asked) == 2


@pytest.mark.parametrize(
    ("choice", "offered"),
    [
        ("none", list[str]()),
        ("all", ["cook", "fly", "read", "swim"]),
        (["fly"], ["fly"]),
        (_as_a_list, ["read"]),
    ],
)
async def test_what_stays_unusable_means_what_was_chosen(
    run: Run, scripted: Scripted, choice: Any, offered: list[str]
) -> None:
    model, selector = scripted("done"), Selector({"tools": "read"})
    guard = _selector(selector, max_tools=1, max_retries=0, on_parsing_failure=choice)
    await run(create_agent(model, TOOLS, middleware=[guard]), {"messages": "hi"})
    assert _offered(model) == [offered]


async def test_answer_that_stays_unusable_is_an_error(run: Run, scripted: Scripted) -> None:
    selector = Selector({})
    agent = create_agent(scripted("done"), TOOLS, middleware=[_selector(selector, max_retries=2)])
    with pytest.raises(StructuredOutputError, match="malformed answer 3 times"):
        await run(agent, {"messages": "hi"})
    assert len(selector.asked) == 3


async def test_tool_to_be_included_must_be_there(run: Run, scripted: Scripted) -> None:
    guard = _selector(Selector({}), always_include=["drive"])
    with pytest.raises(ConfigurationError, match="not found in request"):
        await run(create_agent(scripted("x"), TOOLS, middleware=[guard]), {"messages": "hi"})


@pytest.mark.parametrize(
    "settings", [{"max_retries": -1}, {"max_tools": 0}, {"on_parsing_failure": "some"}]
)
def test_wrong_setting_is_named(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(settings))):
        LLMToolSelectorMiddleware(**settings)
