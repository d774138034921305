from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    add_notification_metadata,
)
from langgraph.checkpoint.memory import InMemorySaver

from interlock.graph import create_agent
from interlock.middleware import HistoryWindowMiddleware
from interlock.middleware.cut_points import is_real_user
from interlock.middleware.history_window import last_rounds
from interlock.state import ConfigurationError
from interlock.tools import tool


@tool
def look(where: str) -> str:
    """Look."""
    return f"nothing {where}"


def chat(*texts: str) -> list[BaseMessage]:
    """A conversation of people (capital letters) and models."""
    return [HumanMessage(t) if t.isupper() else AIMessage(t) for t in texts]


def texts(messages: list[BaseMessage]) -> str:
    return "".join(m.text for m in messages)


@pytest.mark.parametrize(
    ("count", "kept"), [(0, "D"), (1, "CcD"), (2, "BbCcD"), (3, "AaBbCcD"), (9, "AaBbCcD")]
)
def test_rounds_are_counted_from_the_end(count: int, kept: str) -> None:
    assert texts(last_rounds(chat(*"AaBbCcD"), count)) == kept


def test_what_a_person_wrote_in_two_messages_is_one_round() -> None:
    assert texts(last_rounds(chat(*"AaBCbDE"), 1)) == "BCbDE"
    assert texts(last_rounds(chat(*"AaBCbDE"), 0)) == "DE"


def test_the_rounds_tool_traffic_stays_with_it(calling: Any) -> None:
    asked = calling(("look", {"where": "here"}))
    result = ToolMessage("r", tool_call_id="c1", name="look")
    round_ = [HumanMessage("B"), asked, result, AIMessage("b")]
    messages = [*chat(*"Aa"), *round_, HumanMessage("C"), asked, result]
    assert last_rounds(messages, 1) == messages[2:]
    assert last_rounds(messages, 0) == messages[6:]


def test_the_system_message_and_a_summary_stay() -> None:
    summary = add_notification_metadata(HumanMessage("what was"), source="summarization")
    head: list[BaseMessage] = [SystemMessage("rules"), summary]
    assert last_rounds([*head, *chat(*"AaBbC")], 0) == [*head, HumanMessage("C")]


def test_a_nudge_of_the_library_begins_no_round() -> None:
    nudge = add_notification_metadata(HumanMessage("n"), source="interlock")
    messages = [*chat(*"AaBb"), nudge, *chat("b")]
    assert last_rounds(messages, 0) == messages[2:]


def test_a_conversation_that_nobody_began_is_kept() -> None:
    assert last_rounds(chat(*"ab"), 0) == chat(*"ab")
    assert last_rounds([], 3) == []


@given(data=st.data(), count=st.integers(0, 5))
@settings(max_examples=50)
def test_no_call_is_parted_from_its_result(
    histories: Any, faults: Any, data: st.DataObject, count: int
) -> None:
    messages = data.draw(histories(complete=data.draw(st.booleans())))
    kept = last_rounds(messages, count)
    assert faults(kept) == []
    assert kept[-1] is messages[-1]
    people = [m for m in messages if is_real_user(m)]
    assert [m for m in kept if is_real_user(m)] == people[-count - 1 :]


async def test_the_model_reads_the_window_and_the_thread_keeps_everything(
    run: Any, scripted: Any
) -> None:
    model = scripted("a", "b", "c")
    agent = create_agent(
        model,
        system_prompt="Be kind.",
        middleware=[HistoryWindowMiddleware(last_k=1)],
        checkpointer=InMemorySaver(),
    )
    thread: Any = {"configurable": {"thread_id": "t"}}
    for text in "ABC":
        await run(agent, {"messages": text}, thread)
    assert [m.text for m in model.requests[-1]] == ["Be kind.", "B", "b", "C"]
    assert texts(agent.get_state(thread).values["messages"]) == "AaBbCc"


async def test_calls_of_the_current_round_are_all_read(
    run: Any, scripted: Any, calling: Any
) -> None:
    steps = [calling(("look", {"where": str(n)}), start=n) for n in range(3)]
    model = scripted(*steps, "done")
    agent = create_agent(model, [look], middleware=[HistoryWindowMiddleware(last_k=0)])
    await run(agent, {"messages": [*chat(*"AaBb"), HumanMessage("C")]})
    assert len(model.requests[-1]) == 7


async def test_a_run_may_choose_its_window(scripted: Any) -> None:
    model = scripted("x")
    window = HistoryWindowMiddleware(last_k=lambda runtime: runtime.context["last_k"])
    agent = create_agent(model, middleware=[window])
    agent.invoke({"messages": chat(*"AaBbC")}, context={"last_k": 0})
    await agent.ainvoke({"messages": chat(*"AaBbC")}, context={"last_k": 1})
    assert [texts(request) for request in model.requests] == ["C", "BbC"]
    with pytest.raises(ConfigurationError, match="last_k is -1"):
        agent.invoke({"messages": chat("A")}, context={"last_k": -1})


@pytest.mark.parametrize("last_k", [-1, 1.5, "3", True, None])
def test_what_is_no_number_of_rounds_is_refused(last_k: Any) -> None:
    with pytest.raises(ConfigurationError, match="last_k is"):
        HistoryWindowMiddleware(last_k)


def test_ten_rounds_are_the_default() -> None:
    assert HistoryWindowMiddleware().last_k == 10
