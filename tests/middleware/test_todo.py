from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from interlock.graph import create_agent
from interlock.middleware import TodoListMiddleware

Run = Callable[..., Awaitable[dict[str, Any]]]
Scripted = Callable[..., Any]
Calling = Callable[..., AIMessage]


def _plan(*steps: str) -> tuple[str, dict[str, Any]]:
    return "write_todos", {"todos": [{"content": s, "status": "pending"} for s in steps]}


async def test_plan_is_part_of_the_result(run: Run, scripted: Scripted, calling: Calling) -> None:
    model = scripted(calling(_plan("a")), calling(_plan("a", "b"), start=2), "done")
    result = await run(create_agent(model, middleware=[TodoListMiddleware()]), {"messages": "hi"})
    assert [t["content"] for t in result["todos"]] == ["a", "b"]
    assert result["messages"][2].text.startswith("Updated todo list to [{'content': 'a'")


async def test_plan_stays_with_the_thread(run: Run, scripted: Scripted, calling: Calling) -> None:
    model = scripted(calling(_plan("a")), "done")
    agent = create_agent(model, middleware=[TodoListMiddleware()], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    await run(agent, {"messages": "hi"}, config)
    result = await run(agent, {"messages": "on"}, config)
    assert [t["content"] for t in result["todos"]] == ["a"]


async def test_several_plans_in_one_reply_change_nothing(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    model = scripted(calling(_plan("a"), _plan("b")), "done")
    result = await run(create_agent(model, middleware=[TodoListMiddleware()]), {"messages": "hi"})
    answers = [m for m in result["messages"] if isinstance(m, ToolMessage)]
    assert [(m.tool_call_id, m.status) for m in answers] == [("c1", "error"), ("c2", "error")]
    assert "todos" not in result


async def test_model_is_told_of_a_status_that_does_not_exist(
    run: Run, scripted: Scripted, calling: Calling
) -> None:
    wrong = ("write_todos", {"todos": [{"content": "a", "status": "later"}]})
    model = scripted(calling(wrong), "done")
    result = await run(create_agent(model, middleware=[TodoListMiddleware()]), {"messages": "hi"})
    assert result["messages"][2].status == "error"
    assert "status" in result["messages"][2].text


async def test_prompt_stands_behind_the_agents_own(run: Run, scripted: Scripted) -> None:
    model = scripted("done")
    todo = TodoListMiddleware(system_prompt="Plan.", tool_description="The plan.")
    await run(create_agent(model, system_prompt="Be kind.", middleware=[todo]), {"messages": "hi"})
    assert model.requests[0][0].text == "Be kind.\n\nPlan."
    assert model.options[0]["tools"][0].description == "The plan."
