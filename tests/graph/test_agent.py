"""Runs of whole agents: how they end, what they count, what failures become."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from interlock.graph import AgentState, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware, on_error
from interlock.state import ConfigurationError, InvalidInputError, UnstorableValueError
from interlock.tools import InjectedState, tool


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


@tool
def fail() -> str:
    """Fail."""
    msg = "no carrier"
    raise OSError(msg)


def usage(total: int) -> Any:
    return {"input_tokens": total - 1, "output_tokens": 1, "total_tokens": total}


async def test_a_result_says_what_the_run_was(run: Any, calling: Any) -> None:
    model = ScriptedChatModel([calling(("search", {"query": "a"})), AIMessage("done", id="last")])
    result = await run(create_agent(model, [search]), {"messages": "go"})
    assert result["exit_reason"] == "text"
    assert result["exit_message"] == result["messages"][-1].id
    assert result["step_count"] == 2
    assert result["tool_call_counts"] == {"search": 1}


async def test_token_usage_is_summed(run: Any, calling: Any) -> None:
    first = calling(("search", {"query": "a"})).model_copy(update={"usage_metadata": usage(10)})
    last = AIMessage("done", usage_metadata=usage(5))
    agent = create_agent(ScriptedChatModel([first, last]), [search])
    result = await run(agent, {"messages": "go"})
    assert result["token_usage"]["total_tokens"] == 15
    assert result["context_tokens"] == 5


async def test_a_new_input_starts_the_counters_anew(run: Any, calling: Any, thread: Any) -> None:
    model = ScriptedChatModel([calling(("search", {"query": "a"})), "one", "two"])
    agent = create_agent(model, [search], checkpointer=InMemorySaver())
    await run(agent, {"messages": "go"}, thread)
    result = await run(agent, {"messages": "again"}, thread)
    assert (result["step_count"], result["tool_call_counts"]) == (1, {})


async def test_a_pause_keeps_the_counters(run: Any, calling: Any, thread: Any) -> None:
    @tool
    def ask_person() -> str:
        """Ask."""
        return str(interrupt("well?"))

    model = ScriptedChatModel(
        [calling(("search", {"query": "a"})), calling(("ask_person", {}), start=2), "done"]
    )
    agent = create_agent(model, [search, ask_person], checkpointer=InMemorySaver())
    await run(agent, {"messages": "go"}, thread)
    (asked,) = agent.get_state(thread).interrupts
    result = await run(agent, Command(resume={asked.id: "yes"}), thread)
    assert result["step_count"] == 3
    assert result["tool_call_counts"] == {"search": 1, "ask_person": 1}


async def test_the_step_limit_ends_the_run_softly(
    run: Any, calling: Any, assert_valid: Any
) -> None:
    steps = [calling(("search", {"query": "a"}), start=n) for n in range(9)]
    model = ScriptedChatModel(steps)
    result = await run(create_agent(model, [search], max_agent_steps=3), {"messages": "go"})
    assert (result["exit_reason"], result["step_count"], len(model.requests)) == (
        "max_agent_steps",
        3,
        3,
    )
    assert_valid(result["messages"])


async def test_at_the_limit_the_model_may_answer_once_without_tools(run: Any, calling: Any) -> None:
    model = ScriptedChatModel([calling(("search", {"query": "a"})), "what I know"])
    agent = create_agent(model, [search], max_agent_steps=1, final_answer=True)
    result = await run(agent, {"messages": "go"})
    assert result["messages"][-1].text == "what I know"
    assert result["exit_reason"] == "max_agent_steps"
    assert "tools" not in model.options[-1]


async def test_the_token_limit_ends_the_run_softly(run: Any, calling: Any) -> None:
    first = calling(("search", {"query": "a"})).model_copy(update={"usage_metadata": usage(50)})
    agent = create_agent(ScriptedChatModel([first]), [search], max_tokens_total=40)
    assert (await run(agent, {"messages": "go"}))["exit_reason"] == "max_tokens_total"


async def test_the_recursion_limit_holds_in_every_way_of_running(run: Any, calling: Any) -> None:
    steps = [calling(("search", {"query": "a"}), start=n) for n in range(30)]
    ways: list[Any] = [{}, {"checkpointer": InMemorySaver()}]
    for options in ways:
        model = ScriptedChatModel(steps)
        config = {"recursion_limit": 7, "configurable": {"thread_id": "t"}}
        with pytest.raises(GraphRecursionError, match="limit of 7"):
            await run(create_agent(model, [search], **options), {"messages": "go"}, config)
        assert len(model.requests) == 4


@pytest.mark.parametrize("limit", [0, -1, True])
def test_a_limit_below_one_is_refused(limit: Any) -> None:
    with pytest.raises(ConfigurationError, match="max_agent_steps"):
        create_agent(ScriptedChatModel(["x"]), [], max_agent_steps=limit)


def test_an_unknown_setting_is_refused_with_a_hint() -> None:
    with pytest.raises(TypeError, match=r"'system_promt'.*'system_prompt'"):
        create_agent(ScriptedChatModel(["x"]), [], system_promt="hi")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    ("name", "here"),
    [("prompt", "system_prompt"), ("confirmation_strategies", "ApprovalMiddleware")],
)
def test_a_setting_of_another_library_is_named_as_it_is_here(name: str, here: str) -> None:
    settings: Any = {name: "x"}
    with pytest.raises(TypeError, match=here):
        create_agent(ScriptedChatModel(["x"]), [], **settings)


@pytest.mark.parametrize("model", [None, 7, object(), len])
def test_what_is_no_model_is_refused(model: Any) -> None:
    with pytest.raises(TypeError, match="model is"):
        create_agent(model, [])


async def test_the_system_prompt_is_sent_and_not_stored(run: Any) -> None:
    model = ScriptedChatModel(["hi"])
    result = await run(create_agent(model, [], system_prompt="Be kind."), {"messages": "go"})
    assert [m.text for m in model.requests[0]] == ["Be kind.", "go"]
    assert [m.type for m in result["messages"]] == ["human", "ai"]


async def test_a_failing_tool_tells_the_model_by_default(run: Any, calling: Any) -> None:
    model = ScriptedChatModel([calling(("fail", {})), "sorry"])
    result = await run(create_agent(model, [fail]), {"messages": "go"})
    assert result["messages"][2].status == "error"
    assert "no carrier" in result["messages"][2].text


async def test_a_failing_tool_may_end_the_run(run: Any, calling: Any) -> None:
    agent = create_agent(ScriptedChatModel([calling(("fail", {}))]), [fail], on_tool_error="raise")
    with pytest.raises(OSError, match="no carrier"):
        await run(agent, {"messages": "go"})


async def test_a_function_may_say_what_a_failure_means(run: Any, calling: Any) -> None:
    def explain(error: Exception, request: Any) -> str:
        return f"{request.tool_call['name']}: {error}"

    agent = create_agent(
        ScriptedChatModel([calling(("fail", {})), "ok"]), [fail], on_tool_error=explain
    )
    assert (await run(agent, {"messages": "go"}))["messages"][2].text == "fail: no carrier"


@pytest.mark.parametrize("durable", [False, True])
async def test_on_error_may_answer_for_a_failed_model(run: Any, thread: Any, durable: bool) -> None:
    @on_error
    def apologize(error: Exception, state: Any, runtime: Any) -> Any:  # noqa: ARG001
        return {"messages": [AIMessage(f"Sorry: {error}")]}

    def broken(_messages: Any) -> AIMessage:
        msg = "overloaded"
        raise ConnectionError(msg)

    options: Any = {"checkpointer": InMemorySaver()} if durable else {}
    agent = create_agent(ScriptedChatModel([broken]), [], middleware=[apologize], **options)
    result = await run(agent, {"messages": "go"}, thread)
    assert result["messages"][-1].text == "Sorry: overloaded"
    assert result["exit_reason"] == "error"


async def test_a_failing_hook_does_not_lose_a_paid_reply(run: Any, thread: Any) -> None:
    tries: list[int] = []

    class Fragile(AgentMiddleware):
        def after_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            tries.append(1)
            if len(tries) == 1:
                msg = "disk full"
                raise OSError(msg)

    model = ScriptedChatModel(["paid for"])
    agent = create_agent(model, [], middleware=[Fragile()], checkpointer=InMemorySaver())
    with pytest.raises(OSError, match="disk full"):
        await run(agent, {"messages": "go"}, thread)
    result = await run(agent, None, thread)
    assert result["messages"][-1].text == "paid for"
    assert (len(model.requests), len(tries)) == (1, 2)


async def test_a_refused_input_leaves_the_thread_as_it_was(run: Any, thread: Any) -> None:
    agent = create_agent(ScriptedChatModel(["hi"]), [], checkpointer=InMemorySaver())
    with pytest.raises(InvalidInputError, match="'mesages'"):
        await run(agent, {"mesages": "go"}, thread)
    assert agent.get_state(thread).values == {}


class Cart(AgentState):
    cart: list[str]


class WithAnything(AgentState):
    thing: Any


async def test_a_value_that_cannot_be_stored_leaves_the_last_good_state(
    run: Any, thread: Any
) -> None:
    class Put(AgentMiddleware):
        state_schema = WithAnything

        def after_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
            return {"thing": object()} if len(state["messages"]) > 2 else None

    agent = create_agent(
        ScriptedChatModel(["one", "two"]), [], middleware=[Put()], checkpointer=InMemorySaver()
    )
    await run(agent, {"messages": "1"}, thread)
    with pytest.raises(UnstorableValueError, match="'thing'"):
        await run(agent, {"messages": "2"}, thread)
    assert [m.text for m in agent.get_state(thread).values["messages"]][:2] == ["1", "one"]


async def test_an_agent_is_a_node_of_another_graph(run: Any, calling: Any) -> None:
    inner = create_agent(ScriptedChatModel([calling(("search", {"query": "a"})), "done"]), [search])
    outer: Any = StateGraph(AgentState)
    outer.add_node("agent", inner)
    outer.add_edge(START, "agent")
    result = await run(outer.compile(), {"messages": [HumanMessage("go")]})
    assert [m.type for m in result["messages"]] == ["human", "ai", "tool", "ai"]


async def test_two_calls_that_read_state_run_one_after_the_other(
    run: Any, calling: Any, thread: Any
) -> None:
    @tool
    def add(item: str, state: Annotated[dict[str, Any], InjectedState]) -> Any:
        """Add an item."""
        return {"cart": [*state["cart"], item]}

    ways: list[Any] = [{}, {"checkpointer": InMemorySaver()}]
    for options in ways:
        model = ScriptedChatModel([calling(("add", {"item": "a"}), ("add", {"item": "b"})), "ok"])
        agent = create_agent(model, [add], state_schema=Cart, **options)
        result = await run(agent, {"messages": "go", "cart": []}, thread)
        assert result["cart"] == ["a", "b"]
        texts = [m.text for m in result["messages"] if isinstance(m, ToolMessage)]
        assert texts == ['{"cart": ["a"]}', '{"cart": ["a", "b"]}']


@pytest.mark.parametrize("mode", ["values", "updates", "messages", "custom"])
def test_a_stream_ends_like_an_invocation(mode: Any, calling: Any) -> None:
    def build() -> Any:
        script = [calling(("search", {"query": "a"})), "done"]
        return create_agent(ScriptedChatModel(script), [search])

    for _ in build().stream({"messages": "go"}, stream_mode=mode):
        pass
    *_, last = build().stream({"messages": "go"}, stream_mode="values")
    plain = build().invoke({"messages": "go"})
    assert [m.text for m in last["messages"]] == [m.text for m in plain["messages"]]
    assert last["exit_reason"] == plain["exit_reason"]
