"""How runs of whole agents end: reason, message and counters, in both modes."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware, ModelResponse, wrap_model_call
from interlock.state import InvalidUpdateError
from interlock.state.ledger import INNER_USAGE
from interlock.tools import tool


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


def finished(reply: str, reason: str) -> AIMessage:
    return AIMessage(reply, response_metadata={"finish_reason": reason})


def message_of(result: dict[str, Any]) -> Any:
    """The message that ended the run."""
    return next(m for m in result["messages"] if m.id == result["exit_message"])


@pytest.mark.parametrize("reason", ["length", "content_filter"])
@pytest.mark.parametrize("text", ["half of", ""])
@pytest.mark.parametrize("tools", [[search], []])
async def test_a_reply_that_stopped_short_ends_the_run_and_says_how(
    run: Any, reason: str, text: str, tools: list[Any]
) -> None:
    agent = create_agent(ScriptedChatModel([finished(text, reason)]), tools)
    result = await run(agent, {"messages": "go"})
    assert result["exit_reason"] == reason
    assert message_of(result).text == text


async def test_a_call_in_an_earlier_message_of_a_reply_is_answered_and_keeps_the_run_going(
    run: Any, calling: Any, assert_valid: Any
) -> None:
    @wrap_model_call
    def doubled(request: Any, handler: Any) -> ModelResponse[Any]:
        response = handler(request)
        early = calling(("search", {"query": "a"}))
        first = len(request.messages) == 1
        return ModelResponse([early, *response.result]) if first else response

    model = ScriptedChatModel(["too early", "done"])
    result = await run(create_agent(model, [search], middleware=[doubled]), {"messages": "go"})
    assert model.calls == 2
    assert result["last_message"].text == "done"
    (answer,) = (m for m in model.requests[1] if isinstance(m, ToolMessage))
    assert "another message came after it" in answer.text
    assert_valid(result["messages"])


async def test_calls_that_a_layer_ran_itself_do_not_keep_the_run_going(
    run: Any, calling: Any
) -> None:
    @wrap_model_call
    def inner_loop(request: Any, handler: Any) -> ModelResponse[Any]:
        response = handler(request)
        asked = calling(("search", {"query": "a"}))
        done = ToolMessage("about a", tool_call_id="c1", name="search")
        return ModelResponse([asked, done, *response.result])

    model = ScriptedChatModel(["done"])
    result = await run(create_agent(model, [search], middleware=[inner_loop]), {"messages": "go"})
    assert (result["exit_reason"], model.calls) == ("text", 1)


async def test_at_a_limit_the_exit_message_is_the_last_one(run: Any, calling: Any) -> None:
    model = ScriptedChatModel([calling(("search", {"query": "a"}))])
    result = await run(create_agent(model, [search], max_agent_steps=1), {"messages": "go"})
    assert message_of(result) == result["last_message"] == result["messages"][-1]


async def test_the_last_message_is_that_of_the_run_and_kept_by_no_thread(
    run: Any, thread: Any
) -> None:
    agent = create_agent(ScriptedChatModel(["one", "two"]), checkpointer=InMemorySaver())
    for text in ("one", "two"):
        result = await run(agent, {"messages": "go"}, thread)
        assert result["last_message"] == result["messages"][-1]
        assert result["last_message"].text == text
        assert "last_message" not in agent.get_state(thread).values


async def test_a_run_that_goes_on_has_no_reason_any_more(run: Any, calling: Any) -> None:
    seen: list[Any] = []

    class Again(AgentMiddleware[Any, Any, Any]):
        def on_exit(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
            seen.append(state["exit_reason"])
            if len(seen) > 2:
                return None
            return {"messages": [calling(("search", {"query": "a"}))], "jump_to": "tools"}

        def before_tools(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            seen.append(state.get("exit_reason"))

        def before_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            seen.append(state.get("exit_reason"))

    agent = create_agent(ScriptedChatModel(["one", "two"]), [search], middleware=[Again()])
    await run(agent, {"messages": "go"})
    assert seen == [None, "text", None, None, "text"]


async def test_a_pause_in_the_first_hook_after_the_tools_counts_calls_once(
    run: Any, calling: Any, thread: Any
) -> None:
    class Asks(AgentMiddleware[Any, Any, Any]):
        def after_tools(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            interrupt("fine?")

    model = ScriptedChatModel([calling(("search", {"query": "a"})), "done"])
    agent = create_agent(model, [search], middleware=[Asks()], checkpointer=InMemorySaver())
    await run(agent, {"messages": "go"}, thread)
    (asked,) = agent.get_state(thread).interrupts
    result = await run(agent, Command(resume={asked.id: "yes"}), thread)
    assert (result["tool_call_counts"], result["step_count"]) == ({"search": 1}, 2)


async def test_calls_that_a_hook_has_run_again_are_counted_again_and_no_others(
    run: Any, calling: Any
) -> None:
    @tool
    def note(text: str) -> str:
        """Note."""
        return text

    class Repeats(AgentMiddleware[Any, Any, Any]):
        def after_tools(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
            if state["tool_call_counts"] != {"search": 1, "note": 1}:
                return None
            last = state["messages"][-1]
            return {"messages": [RemoveMessage(last.id)], "jump_to": "tools"}

    script = [calling(("note", {"text": "1"}), ("search", {"query": "a"})), "done"]
    agent = create_agent(ScriptedChatModel(script), [search, note], middleware=[Repeats()])
    result = await run(agent, {"messages": "go"})
    assert result["tool_call_counts"] == {"search": 2, "note": 1}


@pytest.mark.parametrize("durable", [False, True])
async def test_usage_inside_of_tools_counts_where_they_report_it(
    run: Any, calling: Any, thread: Any, durable: bool
) -> None:
    @tool
    def ask_expert(call_id: str) -> ToolMessage:
        """Ask."""
        used = {"input_tokens": 4, "output_tokens": 1, "total_tokens": 5}
        return ToolMessage("so", tool_call_id=call_id, response_metadata={INNER_USAGE: used})

    calls = calling(("ask_expert", {"call_id": "c1"}), ("ask_expert", {"call_id": "c2"}))
    options: Any = {"checkpointer": InMemorySaver()} if durable else {}
    agent = create_agent(ScriptedChatModel([calls, "done"]), [ask_expert], **options)
    result = await run(agent, {"messages": "go"}, thread)
    assert result["token_usage"]["total_tokens"] == 10


async def test_the_counters_are_no_input(run: Any) -> None:
    agent = create_agent(ScriptedChatModel(["x"] * 8))
    plain = await run(agent, {"messages": [HumanMessage("go")]})
    for key in ("exit_reason", "step_count", "last_message", "token_usage"):
        result = await run(agent, {"messages": [HumanMessage("go")], key: 1})
        assert result["exit_reason"] == plain["exit_reason"] == "text"
        assert (result["step_count"], result["token_usage"]) == (1, plain["token_usage"])
        assert result["last_message"].text == "x"


async def test_the_final_answer_may_not_call_tools(
    run: Any, calling: Any, assert_valid: Any
) -> None:
    script = [calling(("search", {"query": "a"})), calling(("search", {"query": "b"}), start=2)]
    model = ScriptedChatModel(script)
    agent = create_agent(model, [search], max_agent_steps=1, final_answer=True)
    result = await run(agent, {"messages": "go"})
    assert (result["exit_reason"], result["step_count"]) == ("max_agent_steps", 1)
    assert (result["tool_call_counts"], model.calls) == ({"search": 1}, 2)
    assert_valid(result["messages"])


async def test_a_call_that_nobody_can_read_is_answered_and_asked_again(
    run: Any, assert_valid: Any
) -> None:
    call: Any = {"name": "search", "args": "{", "id": "x1", "error": "cut"}
    broken = AIMessage("", invalid_tool_calls=[{**call, "type": "invalid_tool_call"}])
    model = ScriptedChatModel([broken, "done"])
    result = await run(create_agent(model, [search]), {"messages": "go"})
    (answer,) = (m for m in result["messages"] if isinstance(m, ToolMessage))
    assert (answer.tool_call_id, answer.status) == ("x1", "error")
    assert "no valid JSON" in answer.text
    assert (result["exit_reason"], model.calls) == ("text", 2)
    assert model.requests[1][-1] == answer
    assert_valid(result["messages"])


async def test_calls_of_a_reply_that_was_cut_off_are_not_run(
    run: Any, calling: Any, assert_valid: Any
) -> None:
    half = calling(("search", {"query": "a"})).model_copy(
        update={"response_metadata": {"stop_reason": "max_tokens"}}
    )
    model = ScriptedChatModel([half, "done"])
    result = await run(create_agent(model, [search]), {"messages": "go"})
    assert (result["tool_call_counts"], result["exit_reason"]) == ({}, "text")
    assert "cut off" in model.requests[1][-1].text
    assert_valid(result["messages"])


@pytest.mark.parametrize("reason", ["", 3, True])
async def test_a_stop_needs_a_reason(run: Any, reason: Any) -> None:
    def stop(_state: Any) -> dict[str, Any]:
        return {"stop_run": reason}

    agent = create_agent(ScriptedChatModel(["x"]), hooks={"before_llm": [stop]})
    with pytest.raises(InvalidUpdateError, match="stop_run"):
        await run(agent, {"messages": "go"})


async def test_a_hook_that_returns_nothing_changes_nothing(run: Any) -> None:
    def look(_state: Any, _runtime: Any) -> None:
        return None

    points = ["before_run", "before_llm", "on_exit", "after_run"]
    hooked = create_agent(ScriptedChatModel(["x"]), hooks={point: [look] for point in points})
    plain = create_agent(ScriptedChatModel(["x"]))
    results = [await run(agent, {"messages": "go"}) for agent in (hooked, plain)]
    shown = [([m.text for m in r["messages"]], r["exit_reason"]) for r in results]
    assert shown[0] == shown[1]


async def test_without_a_response_format_there_is_no_structured_response(run: Any) -> None:
    result = await run(create_agent(ScriptedChatModel(["x"])), {"messages": "go"})
    assert "structured_response" not in result


async def test_a_run_of_nothing_but_system_messages_is_warned_about(
    run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    agent = create_agent(ScriptedChatModel(["x", "y"]))
    await run(agent, {"messages": [SystemMessage("rules"), HumanMessage("go")]})
    assert caplog.records == []
    await run(agent, {"messages": [SystemMessage("rules")]})
    assert "no message but system messages" in caplog.text


async def test_a_call_of_no_tool_is_no_structured_answer_and_is_asked_again(
    run: Any, calling: Any
) -> None:
    answer = {"title": "Answer", "type": "object", "properties": {"n": {"type": "integer"}}}
    script = [calling(("nowhere", {})), calling(("Answer", {"n": 7}), start=2)]
    agent = create_agent(ScriptedChatModel(script), response_format=answer)
    result = await run(agent, {"messages": "go"})

    assert result["structured_response"] == {"n": 7}
    assert result["messages"][2].status == "error"
