"""Reviews in LangChain's terms: what is asked, what may be answered, what follows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import (
    CannotPauseError,
    HumanInTheLoopMiddleware,
)

Run = Callable[..., Awaitable[dict[str, Any]]]
Calling = Callable[..., AIMessage]
Texts = Callable[[dict[str, Any]], dict[str, str]]

THREAD: dict[str, Any] = {"configurable": {"thread_id": "t"}}
APPROVE = {"type": "approve"}
REJECT = {"type": "reject"}


async def test_approved_call_runs_once_with_its_own_arguments(
    desk: Any, calling: Calling, texts: Texts, begin: Run, decide: Run
) -> None:
    agent = desk.agent(calling(("send", {"to": "a"})))
    await begin(agent)
    assert desk.did == []
    result = await decide(agent, APPROVE)

    assert desk.did == ["send a x1"]
    assert texts(result) == {"c1": "sent to a"}


async def test_edit_runs_and_the_transcript_keeps_the_call_of_the_model(
    desk: Any, calling: Calling, texts: Texts, begin: Run, decide: Run, edit: Any
) -> None:
    agent = desk.agent(calling(("send", {"to": "a"})))
    await begin(agent)
    result = await decide(agent, edit("send", to="b", copies=2))

    assert desk.did == ["send b x2"]
    assert result["messages"][1].tool_calls[0]["args"] == {"to": "a"}
    assert '{"to": "b", "copies": 2}' in texts(result)["c1"]


async def test_edit_is_written_into_the_transcript_if_that_is_wanted(
    desk: Any, calling: Calling, begin: Run, decide: Run, edit: Any
) -> None:
    agent = desk.agent(calling(("send", {"to": "a"})), rewrite_edits=True)
    await begin(agent)
    result = await decide(agent, edit("send", to="b"))

    assert desk.did == ["send b x1"]
    assert result["messages"][1].tool_calls[0]["args"] == {"to": "b"}


async def test_note_with_an_approval_reaches_the_model(
    desk: Any, calling: Calling, texts: Texts, begin: Run, decide: Run
) -> None:
    agent = desk.agent(calling(("send", {"to": "a"})))
    await begin(agent)
    result = await decide(agent, {**APPROVE, "message": "only today"})

    assert "only today" in texts(result)["c1"]
    assert texts(result)["c1"].endswith("sent to a")


WRONG: list[Any] = [
    {"decisions": []},
    {"decisions": [APPROVE, APPROVE]},
    {"decisions": [{"type": "aprove"}]},
    {"decisions": [{"type": "respond", "message": "x"}]},
    {"decisions": [{**APPROVE, "args": {"to": "b"}}]},
    {"decisions": [{"type": "edit", "edited_action": {"name": "burn", "args": {"what": "a"}}}]},
    {"decisions": [{"type": "edit", "edited_action": {"name": "send", "args": {"to": 5}}}]},
    {"decisions": [{"type": "edit", "edited_action": {"name": "send", "args": {}}}]},
    {"decisions": {"c9": APPROVE}},
    {"decisions": {}},
    {"decision": [APPROVE]},
    {},
    "approve",
    [APPROVE],
    APPROVE,
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
async def test_wrong_answer_is_refused_and_the_right_one_still_counts(
    desk: Any, run: Run, calling: Calling, wrong: Any, begin: Run, decide: Run
) -> None:
    on = {"send": {"allowed_decisions": ["approve", "edit", "reject"]}}
    agent = desk.agent(calling(("send", {"to": "a"})), interrupt_on=on)
    await begin(agent)
    with pytest.raises(ValueError, match=r"c1|decision|refused|waits"):
        await run(agent, Command(resume=wrong), THREAD)
    assert len(agent.get_state(THREAD).interrupts) == 1

    await decide(agent, APPROVE)
    assert desk.did == ["send a x1"]


async def test_all_calls_are_in_one_pause_with_the_schema_of_the_answer(
    desk: Any, calling: Calling, begin: Run
) -> None:
    agent = desk.agent(
        calling(("send", {"to": "a"}), ("burn", {"what": "x"}), ("send", {"to": "b"}))
    )
    (pause,) = (await begin(agent))["__interrupt__"]

    requests = pause.value["action_requests"]
    assert [(r["tool_call_id"], r["name"], r["args"]) for r in requests] == [
        ("c1", "send", {"to": "a"}),
        ("c3", "send", {"to": "b"}),
    ]
    assert set(pause.response_schema["$defs"]["DecisionsByCall"]["properties"]) == {"c1", "c3"}


async def test_calls_are_answered_one_by_one_and_nothing_runs_before_the_last(
    desk: Any, run: Run, calling: Calling, texts: Texts, begin: Run, decide: Run
) -> None:
    agent = desk.agent(calling(("send", {"to": "a"}), ("send", {"to": "b"})))
    await begin(agent)
    left = await run(agent, Command(resume={"decisions": {"c2": REJECT}}), THREAD)
    requests = left["__interrupt__"][0].value["action_requests"]
    assert ([r["tool_call_id"] for r in requests], desk.did) == (["c1"], [])

    result = await decide(agent, APPROVE)
    assert desk.did == ["send a x1"]
    assert "rejected" in texts(result)["c2"]


async def test_edit_to_another_tool_is_asked_about_under_the_rule_of_that_tool(
    desk: Any, calling: Calling, texts: Texts, begin: Run, decide: Run, edit: Any
) -> None:
    on = {"send": True, "burn": {"allowed_decisions": ["approve", "reject"]}}
    agent = desk.agent(calling(("send", {"to": "a"})), interrupt_on=on, allow_tool_change=True)
    await begin(agent)
    (pause,) = (await decide(agent, edit("burn", what="a")))["__interrupt__"]
    assert pause.value["action_requests"][0]["name"] == "burn"
    assert pause.value["review_configs"][0]["allowed_decisions"] == ["approve", "reject"]

    result = await decide(agent, APPROVE)
    assert desk.did == ["burn a"]
    assert texts(result)["c1"].endswith("burnt a")


async def test_edit_to_a_tool_without_a_rule_runs_at_once(
    desk: Any, calling: Calling, begin: Run, decide: Run, edit: Any
) -> None:
    agent = desk.agent(calling(("send", {"to": "a"})), allow_tool_change=True)
    await begin(agent)
    await decide(agent, edit("burn", what="a"))
    assert desk.did == ["burn a"]


async def test_wildcard_covers_all_tools_but_the_exempted(
    desk: Any, calling: Calling, begin: Run
) -> None:
    reply = calling(("send", {"to": "a"}), ("burn", {"what": "x"}))
    agent = desk.agent(reply, interrupt_on={"*": True, "burn": False})
    (pause,) = (await begin(agent))["__interrupt__"]
    assert [r["name"] for r in pause.value["action_requests"]] == ["send"]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
async def test_without_a_checkpointer_the_run_says_so_and_runs_nothing(
    desk: Any, calling: Calling, mode: Any, begin: Run
) -> None:
    model = ScriptedChatModel([calling(("send", {"to": "a"})), "done"])
    review = HumanInTheLoopMiddleware({"send": True}, interrupt_mode=mode)
    agent = create_agent(model, desk.tools, middleware=[review])
    with pytest.raises(CannotPauseError, match=r"'send'.*checkpointer"):
        await begin(agent)
    assert desk.did == []
