from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import AgentGraph, create_agent
from interlock.middleware import (
    BudgetExceededError,
    ModelRetryMiddleware,
    TokenBudgetMiddleware,
    after_model,
)
from interlock.state.errors import ConfigurationError
from interlock.tools import ToolRuntime

Run = Callable[..., Awaitable[dict[str, Any]]]
Scripted = Callable[..., Any]

THREAD = {"configurable": {"thread_id": "t"}}
PRICES = {"small": (1.0, 2.0), "big": (100.0, 200.0)}


def _reply(
    name: str = "again", tokens: int = 10, model: str = "small", text: str = ""
) -> AIMessage:
    calls: list[Any] = (
        [{"name": name, "args": {}, "id": "c1", "type": "tool_call"}] if not text else []
    )
    return AIMessage(
        text,
        tool_calls=calls,
        usage_metadata={"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens},
        response_metadata={"model_name": model},
    )


def again() -> str:
    """Go on."""
    return "more"


async def test_run_ends_before_the_call_beyond_the_budget(run: Run, scripted: Scripted) -> None:
    model = scripted(_reply())
    budget = TokenBudgetMiddleware(25, final_message="The budget is spent.")
    result = await run(create_agent(model, [again], middleware=[budget]), {"messages": "hi"})
    assert (model.calls, result["exit_reason"]) == (3, "token_budget_exceeded")
    assert result["messages"][-1].text == "The budget is spent."


async def test_cost_counts_each_model_at_its_price(run: Run, scripted: Scripted) -> None:
    model = scripted(_reply(tokens=1000), _reply(tokens=1000, model="big"), _reply())
    budget = TokenBudgetMiddleware(max_cost=0.1, prices=PRICES)
    result = await run(create_agent(model, [again], middleware=[budget]), {"messages": "hi"})
    assert (model.calls, result["exit_reason"]) == (2, "cost_budget_exceeded")


async def test_model_without_a_price_ends_the_run(run: Run, scripted: Scripted) -> None:
    budget = TokenBudgetMiddleware(max_cost=1, prices=PRICES)
    agent = create_agent(scripted(_reply(model="new")), [again], middleware=[budget])
    with pytest.raises(ConfigurationError, match="'new' has no price"):
        await run(agent, {"messages": "hi"})


async def test_error_says_what_was_spent(run: Run, scripted: Scripted) -> None:
    budget = TokenBudgetMiddleware(10, exit_behavior="error")
    agent = create_agent(scripted(_reply()), [again], middleware=[budget])
    with pytest.raises(BudgetExceededError) as caught:
        await run(agent, {"messages": "hi"})
    assert (caught.value.spent, caught.value.budget) == (10, 10)


async def test_budget_of_a_run_survives_pauses(run: Run, scripted: Scripted) -> None:
    def ask() -> str:
        """Ask a person."""
        return str(interrupt("go on?"))

    model = scripted(_reply("ask"))
    budget = TokenBudgetMiddleware(20)
    agent = create_agent(model, [ask], middleware=[budget], checkpointer=InMemorySaver())
    await run(agent, {"messages": "hi"}, THREAD)
    await run(agent, Command(resume="yes"), THREAD)
    result = await run(agent, Command(resume="yes"), THREAD)
    assert (model.calls, result["exit_reason"]) == (2, "token_budget_exceeded")


@pytest.mark.parametrize(
    ("scope", "reasons"),
    [("run", ["text", "text", "text"]), ("thread", ["text", "text", "token_budget_exceeded"])],
)
async def test_scope_of_a_budget(
    run: Run, scripted: Scripted, scope: Any, reasons: list[str]
) -> None:
    agent = create_agent(
        scripted(_reply(text="ok")),
        middleware=[TokenBudgetMiddleware(20, scope=scope)],
        checkpointer=InMemorySaver(),
    )
    ended = [(await run(agent, {"messages": "hi"}, THREAD))["exit_reason"] for _ in range(3)]
    assert ended == reasons


def _delegating(inner: AgentGraph) -> dict[str, Callable[..., str]]:
    """Tools that let another agent do the work and differ in how they pass the config on."""
    task = {"messages": [HumanMessage("do it")]}

    def plain() -> str:
        """Let another agent do it."""
        return str(inner.invoke(task)["messages"][-1].text)

    def with_config(config: RunnableConfig) -> str:
        """Let another agent do it."""
        return str(inner.invoke(task, config)["messages"][-1].text)

    def with_runtime(runtime: ToolRuntime[Any, Any]) -> str:
        """Let another agent do it."""
        return str(inner.invoke(task, runtime.config)["messages"][-1].text)

    return {f.__name__: f for f in (plain, with_config, with_runtime)}


@pytest.mark.parametrize("name", ["plain", "with_config", "with_runtime"])
async def test_sub_agents_spend_from_the_budget(run: Run, scripted: Scripted, name: str) -> None:
    inner = scripted(_reply(tokens=40, model="big"), _reply(tokens=40, model="big", text="done"))
    tool = _delegating(create_agent(inner, [again]))[name]
    model = scripted(_reply(name))
    agent = create_agent(model, [tool], middleware=[TokenBudgetMiddleware(90)])
    result = await run(agent, {"messages": "hi"})
    assert (model.calls, inner.calls) == (1, 2)
    assert result["exit_reason"] == "token_budget_exceeded"
    assert result["messages"][-1].text == "done"


async def test_sub_agents_of_parallel_calls_count_once_each(run: Run, scripted: Scripted) -> None:
    inner = scripted(_reply(tokens=40, text="done"))
    tool = _delegating(create_agent(inner, [again]))["plain"]
    reply = _reply("plain")
    calls = [{**call, "id": f"c{n}"} for n in range(3) for call in reply.tool_calls]
    model = scripted(reply.model_copy(update={"tool_calls": calls}), _reply(text="all done"))
    agent = create_agent(model, [tool], middleware=[TokenBudgetMiddleware(131)])
    assert (await run(agent, {"messages": "hi"}))["exit_reason"] == "text"
    model = scripted(reply.model_copy(update={"tool_calls": calls}), _reply(text="all done"))
    agent = create_agent(model, [tool], middleware=[TokenBudgetMiddleware(130)])
    assert (await run(agent, {"messages": "hi"}))["exit_reason"] == "token_budget_exceeded"


async def test_two_budgets_do_not_count_twice(run: Run, scripted: Scripted) -> None:
    model = scripted(_reply())
    budgets = [TokenBudgetMiddleware(n) for n in (30, 40)]
    await run(create_agent(model, [again], middleware=budgets), {"messages": "hi"})
    assert model.calls == 3


async def test_hook_that_asks_again_does_not_escape_the_budget(
    run: Run, scripted: Scripted
) -> None:
    @after_model
    def never_content(state: Any) -> dict[str, Any]:  # noqa: ARG001
        return {"jump_to": "model"}

    model = scripted(_reply(text="ok"))
    guards = [TokenBudgetMiddleware(30), never_content]
    result = await run(create_agent(model, middleware=guards), {"messages": "hi"})
    assert (model.calls, result["exit_reason"]) == (3, "token_budget_exceeded")


async def test_retried_call_counts_what_succeeded(run: Run, scripted: Scripted) -> None:
    model = scripted(TimeoutError(), _reply(), TimeoutError(), _reply(), _reply(text="ok"))
    guards = [TokenBudgetMiddleware(20), ModelRetryMiddleware(initial_delay=0)]
    result = await run(create_agent(model, [again], middleware=guards), {"messages": "hi"})
    assert (model.calls, result["exit_reason"]) == (4, "token_budget_exceeded")


@pytest.mark.parametrize(
    "settings", [{"scope": "day"}, {"exit_behavior": "stop"}, {"max_tokens": None}]
)
def test_wrong_setting_is_named(settings: dict[str, Any]) -> None:
    everything: dict[str, Any] = {"max_tokens": 5, **settings}
    with pytest.raises(ConfigurationError, match=next(iter(settings))):
        TokenBudgetMiddleware(**everything)
