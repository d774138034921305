from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from interlock.graph import create_agent
from interlock.graph.models.scripted import ScriptedChatModel
from interlock.middleware import ModerationError, ModerationMiddleware
from interlock.state import ConfigurationError

Run = Callable[..., Awaitable[dict[str, Any]]]
THREAD: Any = {"configurable": {"thread_id": "t"}}


class Judge:
    """Flags texts with the word bad in them, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, text: str) -> dict[str, Any]:
        self.asked.append(text)
        return {"flagged": "bad" in text, "reason": "badness"}


@tool
def search(query: str) -> str:
    """Search."""
    return f"bad results for {query}"


TEXT: dict[str, Any] = {"type": "text", "text": "fine"}
CALL = {"name": "search", "args": {"query": "x"}, "id": "c1", "type": "tool_call"}


async def test_flagged_input_never_reaches_the_model(run: Run) -> None:
    model = ScriptedChatModel(["never"])
    agent = create_agent(model, middleware=[ModerationMiddleware(Judge())])

    result = await run(agent, {"messages": "a bad thing"})

    assert model.calls == 0
    assert [m.text for m in result["messages"]] == [
        "[removed by moderation]",
        "I can't help with that.",
    ]
    assert result["exit_reason"] == "moderation"


async def test_thread_goes_on_after_a_flagged_message(run: Run) -> None:
    judge, model = Judge(), ScriptedChatModel(["hello"])
    agent = create_agent(
        model, middleware=[ModerationMiddleware(judge)], checkpointer=InMemorySaver()
    )
    await run(agent, {"messages": "a bad thing"}, THREAD)

    result = await run(agent, {"messages": "hi"}, THREAD)

    assert result["messages"][-1].text == "hello"
    assert "bad thing" not in repr(model.requests)


async def test_supplied_history_is_asked_about_and_each_text_once(run: Run) -> None:
    judge, model = Judge(), ScriptedChatModel(["one", "two", "three"])
    agent = create_agent(
        model,
        middleware=[ModerationMiddleware(judge, check_output=False)],
        checkpointer=InMemorySaver(),
    )
    history = [HumanMessage("first", id="h1"), AIMessage("x"), HumanMessage("second")]

    await run(agent, {"messages": history}, THREAD)
    await run(agent, {"messages": [HumanMessage("third")]}, THREAD)
    await run(agent, {"messages": [HumanMessage("changed", id="h1")]}, THREAD)

    assert judge.asked == ["first", "second", "third", "changed"]


async def test_flagged_reply_is_replaced_with_its_calls(run: Run) -> None:
    model = ScriptedChatModel([AIMessage("a bad plan", tool_calls=[CALL])])
    agent = create_agent(model, [search], middleware=[ModerationMiddleware(Judge())])

    result = await run(agent, {"messages": "hi"})

    assert result["messages"][-1].text == "I can't help with that."
    assert result["exit_reason"] == "moderation"
    assert len(result["messages"]) == 2


@pytest.mark.parametrize(
    ("reply", "shown"), [("a fine day", "a fine day"), ("a bad day", "I can't help with that.")]
)
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_stream_shows_a_reply_only_when_it_has_passed(
    reply: str, shown: str, asynchronous: bool
) -> None:
    agent = create_agent(ScriptedChatModel([reply]), middleware=[ModerationMiddleware(Judge())])
    value = {"messages": [HumanMessage("hi")]}
    if asynchronous:
        chunks = [c async for c in agent.astream(value, stream_mode="messages")]
    else:
        chunks = list(agent.stream(value, stream_mode="messages"))

    assert [message.text for message, _ in chunks] == [shown]


UNSEEN = {
    "reasoning": AIMessage([{"type": "reasoning", "reasoning": "bad"}, TEXT]),
    "refusal": AIMessage([{"type": "refusal", "refusal": "bad"}]),
    "document": AIMessage([TEXT, {"type": "text-plain", "text": "bad"}]),
    "reasoning_content": AIMessage("fine", additional_kwargs={"reasoning_content": "bad"}),
    "refusal_beside": AIMessage("", additional_kwargs={"refusal": "bad"}),
}


@pytest.mark.parametrize("mode", ["messages", "updates", "values"])
@pytest.mark.parametrize("place", UNSEEN)
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_flagged_thinking_and_refusal_are_shown_nowhere(
    place: str, mode: Any, asynchronous: bool
) -> None:
    agent = create_agent(
        ScriptedChatModel([UNSEEN[place]]), middleware=[ModerationMiddleware(Judge())]
    )
    value: Any = {"messages": "hi"}
    if asynchronous:
        chunks = [c async for c in agent.astream(value, stream_mode=mode)]
    else:
        chunks = list(agent.stream(value, stream_mode=mode))

    assert "I can't help with that." in repr(chunks)
    assert "'bad'" not in repr(chunks)


async def test_flagged_text_in_any_block_of_a_user_is_refused(run: Run) -> None:
    model = ScriptedChatModel(["never"])
    agent = create_agent(model, middleware=[ModerationMiddleware(Judge())])
    blocks: Any = [TEXT, {"type": "text-plain", "text": "bad"}]

    result = await run(agent, {"messages": [HumanMessage(blocks)]})

    assert model.calls == 0
    assert result["messages"][0].content == "[removed by moderation]"


async def test_reply_is_one_question(run: Run) -> None:
    judge = Judge()
    reply = AIMessage(["a ", "b", {"type": "reasoning", "reasoning": "c"}])
    moderation = ModerationMiddleware(judge, check_input=False)

    await run(create_agent(ScriptedChatModel([reply]), middleware=[moderation]), {"messages": "hi"})

    assert judge.asked == ["a b\n\nc"]


async def test_flagged_result_is_withheld_from_the_model(run: Run) -> None:
    model = ScriptedChatModel([AIMessage("", tool_calls=[CALL]), "done"])
    moderation = ModerationMiddleware(Judge(), check_tool_results=True)

    result = await run(create_agent(model, [search], middleware=[moderation]), {"messages": "hi"})

    assert "bad results" not in repr(model.requests)
    assert "withheld by moderation: badness" in result["messages"][2].text
    assert result["messages"][-1].text == "done"


@pytest.mark.parametrize(("text", "place"), [("bad", "input"), ("hi", "output")])
async def test_flagged_content_can_be_an_error(run: Run, text: str, place: str) -> None:
    moderation = ModerationMiddleware(Judge(), on_flagged="error")
    agent = create_agent(ScriptedChatModel(["a bad reply"]), middleware=[moderation])

    with pytest.raises(ModerationError, match="badness") as caught:
        await run(agent, {"messages": text})

    assert caught.value.place == place


async def test_classifier_that_fails_lets_nothing_pass(run: Run) -> None:
    def broken(_text: str) -> bool:
        raise ConnectionError

    model = ScriptedChatModel(["never"])

    result = await run(
        create_agent(model, middleware=[ModerationMiddleware(broken)]), {"messages": "hi"}
    )

    assert model.calls == 0
    assert result["exit_reason"] == "moderation"


def test_wrong_setting_is_refused() -> None:
    wrong: Any = "ignore"
    with pytest.raises(ConfigurationError, match="on_flagged is 'ignore'"):
        ModerationMiddleware(Judge(), on_flagged=wrong)
