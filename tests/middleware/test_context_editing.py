from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langgraph.checkpoint.memory import InMemorySaver

from interlock.graph import create_agent
from interlock.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    ModelRequest,
    ModelResponse,
)
from interlock.state.errors import ConfigurationError
from interlock.tools import tool


@tool
def look(q: str) -> str:
    """Look something up."""
    return q * 100


def characters(messages: Sequence[BaseMessage]) -> int:
    return sum(len(m.text) for m in messages)


def sent_by(middleware: ContextEditingMiddleware, messages: list[Any], **parts: Any) -> list[Any]:
    """The messages that reach the model."""
    seen: list[Any] = []

    def handler(request: ModelRequest[Any]) -> ModelResponse[Any]:
        seen.append(request.messages)
        return ModelResponse([AIMessage("ok")])

    request: ModelRequest[Any] = ModelRequest(messages=messages, **{"model": None, **parts})
    middleware.wrap_model_call(request, handler)
    return list(seen[0])


def lengths(messages: Sequence[BaseMessage]) -> list[int]:
    return [len(m.text) for m in messages if m.type == "tool"]


async def test_requests_are_edited_and_the_thread_is_not(
    run: Any, scripted: Any, calling: Callable[..., AIMessage]
) -> None:
    steps = [calling(("look", {"q": "x"}), start=n) for n in range(3)]
    model = scripted(*steps, "done")
    edit = ClearToolUsesEdit(trigger=150, keep=1)
    middleware = ContextEditingMiddleware(edits=[edit], token_counter=characters)
    result = await run(create_agent(model, [look], middleware=[middleware]), {"messages": "go"})

    assert [lengths(r) for r in model.requests] == [[], [100], [9, 100], [9, 9, 100]]
    assert lengths(result["messages"]) == [100, 100, 100]


async def test_beginning_of_requests_changes_in_blocks(
    run: Any, scripted: Any, calling: Callable[..., AIMessage]
) -> None:
    model = scripted(*(calling(("look", {"q": "x"}), start=n) for n in range(9)), "done")
    edit = ClearToolUsesEdit(trigger=450, keep=1)
    middleware = ContextEditingMiddleware(edits=[edit], token_counter=characters)
    await run(create_agent(model, [look], middleware=[middleware]), {"messages": "go"})

    cleared = [lengths(request).count(9) for request in model.requests]
    assert cleared == [0, 0, 0, 0, 0, 4, 4, 4, 4, 8]


async def test_progress_survives_the_process(
    run: Any, scripted: Any, calling: Callable[..., AIMessage]
) -> None:
    saver, thread = InMemorySaver(), {"configurable": {"thread_id": "t"}}
    edit = ClearToolUsesEdit(trigger=250, keep=1)
    script = [calling(("look", {"q": "x"}), start=n) for n in range(3)]
    model = scripted(*script, "done")
    results: list[dict[str, Any]] = []
    for _ in range(2):
        middleware = ContextEditingMiddleware(edits=[edit], token_counter=characters)
        agent = create_agent(model, [look], middleware=[middleware], checkpointer=saver)
        results.append(await run(agent, {"messages": "go"}, thread))

    assert lengths(model.requests[-1]) == [9, 9, 100]
    assert "context_edits" not in results[0]


async def test_reported_usage_decides_without_a_count(run: Any, scripted: Any) -> None:
    usage = UsageMetadata(input_tokens=10, output_tokens=0, total_tokens=10)
    seen: list[int] = []

    def counter(messages: Sequence[BaseMessage]) -> int:
        seen.append(len(messages))
        return 1

    middleware = ContextEditingMiddleware(token_counter=counter)
    agent = create_agent(scripted("ok"), middleware=[middleware])
    history = [HumanMessage("a")] * 50 + [AIMessage("b", usage_metadata=usage), HumanMessage("c")]
    await run(agent, {"messages": history})
    assert seen == [1]


def test_idle_request_is_passed_on_as_it_is() -> None:
    messages = [HumanMessage("a"), AIMessage("b")]
    sent = sent_by(ContextEditingMiddleware(), messages)

    assert all(a is b for a, b in zip(sent, messages, strict=True))


def test_edit_of_ones_own_cannot_reach_the_thread() -> None:
    class Shout:
        def apply(self, messages: list[Any], *, count_tokens: Any) -> None:
            messages[0].content = f"{count_tokens(messages)}!"

    messages = [HumanMessage("abc")]
    middleware = ContextEditingMiddleware(edits=[Shout()], token_counter=characters)

    assert sent_by(middleware, messages)[0].text == "3!"
    assert messages[0].text == "abc"


def test_edit_that_replaces_messages_is_spared_the_copies() -> None:
    class Same:
        replaces_messages = True

        def apply(self, messages: list[Any], *, count_tokens: Any) -> None: ...

    messages = [HumanMessage("abc")]
    sent = sent_by(ContextEditingMiddleware(edits=[Same()]), messages)
    assert sent[0] is messages[0]


@pytest.mark.parametrize(("trigger", "cleared"), [(30, True), (31, False)])
def test_model_counts_prompt_and_tools_too(
    calling: Callable[..., AIMessage], trigger: int, cleared: bool
) -> None:
    class Counting:
        def get_num_tokens_from_messages(self, messages: Any, tools: Any = None) -> int:
            return len(messages) * 10 + len(tools or ())

    edit = ClearToolUsesEdit(trigger=trigger, keep=0)
    middleware = ContextEditingMiddleware(edits=[edit], token_count_method="model")  # noqa: S106
    messages = [calling(("look", {})), ToolMessage("found", tool_call_id="c1")]
    sent = sent_by(middleware, messages, model=Counting(), system_prompt="s", tools=[look])

    assert (sent[1].text == "[cleared]") is cleared


@given(data=st.data(), keep=st.integers(0, 5), inputs=st.booleans())
def test_any_edited_request_is_valid_and_leaves_the_rest_alone(
    histories: Any, faults: Any, data: Any, keep: int, inputs: bool
) -> None:
    messages = data.draw(histories())
    before = [m.model_copy(deep=True) for m in messages]
    edit = ClearToolUsesEdit(trigger=0, keep=keep, clear_tool_inputs=inputs, placeholder="")
    sent = sent_by(ContextEditingMiddleware(edits=[edit]), messages)

    assert faults(sent) == []
    assert messages == before
    assert len(sent) == len(messages)
    assert characters(sent) <= characters(messages)
    assert [m for m in sent if m.type != "tool"] == [
        m for m in messages if m.type != "tool"
    ] or inputs


@pytest.mark.parametrize("settings", [{"edits": ["clear"]}, {"token_count_method": "exact"}])
def test_wrong_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        ContextEditingMiddleware(**settings)
