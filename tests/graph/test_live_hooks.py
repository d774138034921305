"""Hooks over the live state: what they see and what they change."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware, hook
from interlock.state import InvalidUpdateError, LiveState, State, replace_values
from interlock.tools import Toolset, tool

SCHEMA: dict[str, Any] = {"log": {"type": list[str]}, "last": {"type": str}}


@tool
def work(query: str) -> str:
    """Work."""
    return f"did {query}"


def two_steps() -> ScriptedChatModel:
    ask = {"name": "work", "args": {"query": "a"}, "id": "c1", "type": "tool_call"}
    return ScriptedChatModel([AIMessage("", tool_calls=[ask]), "done"])


def agent_with(hooks: Any, **options: Any) -> Any:
    model = options.pop("model", None) or two_steps()
    return create_agent(model, [work], hooks=hooks, state_schema=SCHEMA, **options)


async def test_a_hook_reads_what_it_and_the_hooks_before_it_wrote(run: Any) -> None:
    seen: list[Any] = []

    @hook
    def first(state: State) -> None:
        state.set("log", ["a"])
        state.set("log", "b")
        seen.append(state.get("log"))

    @hook
    def second(state: State) -> None:
        seen.append([*state["log"], state.get("last")])
        state.set("log", ["c"], handler_override=replace_values)

    result = await run(agent_with({"before_run": [first, second]}), {"messages": "go"})
    assert seen == [["a", "b"], ["a", "b", None]]
    assert result["log"] == ["c"]


async def test_a_hook_may_set_and_return_an_update(run: Any) -> None:
    @hook
    def both(state: State) -> Any:
        state.set("log", "set")
        return {"log": ["returned"], "last": "x"}

    result = await run(agent_with({"after_run": [both]}), {"messages": "go"})
    assert (result["log"], result["last"]) == (["set", "returned"], "x")


async def test_a_hook_sees_the_run_around_the_state(run: Any) -> None:
    seen: list[Any] = []

    @hook
    def look(state: State) -> None:
        assert isinstance(state, LiveState)
        names = [t.name for t in state["tools"]]
        seen.append((names, state["hook_context"], state["step_count"], state.get("exit_reason")))

    hooks = {"before_run": [look], "on_exit": [look]}
    await run(agent_with(hooks), {"messages": "go"}, context={"user": "u"})
    assert seen == [(["work"], {"user": "u"}, 0, None), (["work"], {"user": "u"}, 2, "text")]


async def test_a_hook_sees_the_tools_of_a_toolset_as_they_are_now(run: Any) -> None:
    seen: list[list[str]] = []

    @tool
    def later(query: str) -> str:
        """Come later."""
        return query

    @hook
    def look(state: State) -> None:
        seen.append(sorted(t.name for t in state["tools"]))

    @hook
    def grow(state: State) -> None:
        if len(state["tools"]) == 1:
            toolset.add(later)

    toolset = Toolset([work])
    hooks = {"before_llm": [look], "after_tool": [grow]}
    agent = create_agent(two_steps(), toolset, hooks=hooks, state_schema=SCHEMA)
    await run(agent, {"messages": "go"})
    assert seen == [["work"], ["later", "work"]]


async def test_nothing_beside_the_state_reaches_the_result(run: Any) -> None:
    @hook
    def look(state: State) -> None:
        assert {"tools", "hook_context", "messages"} <= set(state) == set(dict(state))
        assert len(state) == len([*state])

    result = await run(agent_with({"before_run": [look]}), {"messages": "go"}, context={"k": 1})
    assert not {"tools", "hook_context", "continue_run", "stop_run"} & set(result)


@pytest.mark.parametrize(
    "key", ["tools", "hook_context", "step_count", "run_ledger", "updated_by", "lgo"]
)
async def test_a_hook_may_not_write_what_is_not_its_own(run: Any, key: str) -> None:
    @hook
    def write(state: State) -> None:
        state.set(key, 1)

    with pytest.raises(InvalidUpdateError, match=f"write.before_agent wrote state key '{key}'"):
        await run(agent_with({"before_run": [write]}), {"messages": "go"})


@pytest.mark.parametrize(
    ("key", "value"),
    [("stop_run", ""), ("stop_run", 7), ("continue_run", "yes"), ("jump_to", "moon")],
)
async def test_a_word_that_means_nothing_is_refused(run: Any, key: str, value: Any) -> None:
    @hook
    def write(state: State) -> None:
        state.set(key, value)

    with pytest.raises(InvalidUpdateError, match=f"write.before_agent set {key} to"):
        await run(agent_with({"before_run": [write]}), {"messages": "go"})


async def test_a_hook_may_jump_by_its_state(run: Any) -> None:
    @hook(can_jump_to=["end"])
    def stop(state: State) -> None:
        state.set("jump_to", "end")

    model = two_steps()
    result = await run(agent_with({"before_tool": [stop]}, model=model), {"messages": "go"})
    assert (len(model.requests), result["exit_reason"]) == (1, "jump")


async def test_a_refused_write_changes_nothing_and_can_be_caught(run: Any) -> None:
    @hook
    def careful(state: State) -> None:
        with pytest.raises(InvalidUpdateError):
            state.set("log", [7])
        state.set("log", "fine")

    result = await run(agent_with({"before_run": [careful]}), {"messages": "go"})
    assert result["log"] == ["fine"]


async def test_a_state_that_is_kept_cannot_be_written_later(run: Any) -> None:
    kept: list[State] = []

    @hook
    def keep(state: State) -> None:
        kept.append(state)

    await run(agent_with({"before_run": [keep]}), {"messages": "go"})
    with pytest.raises(InvalidUpdateError, match=r"keep\.before_agent has returned"):
        kept[0].set("log", "late")


async def test_what_a_hook_reads_is_its_own(run: Any) -> None:
    @hook
    def spoil(state: State) -> None:
        state["messages"].clear()
        state.get("log").append("leak")  # type: ignore[union-attr]
        state.data["messages"].clear()

    result = await run(agent_with({"before_llm": [spoil]}), {"messages": "go", "log": ["a"]})
    assert result["log"] == ["a"]
    assert [m.text for m in result["messages"]] == ["go", "", "did a", "done"]


async def test_a_method_or_a_plain_function_may_ask_for_the_live_state(run: Any) -> None:
    class Guard(AgentMiddleware):
        def before_model(self, state: State, runtime: Any) -> None:  # type: ignore[override]  # noqa: ARG002
            state.set("log", "method")

    def plain(state: State) -> None:
        state.set("log", "plain")

    def given_a_dict(state: Any) -> Any:
        return {"log": [type(state).__name__]}

    model = ScriptedChatModel(["done"])
    agent = agent_with({"before_llm": [plain, given_a_dict]}, model=model, middleware=[Guard()])
    result = await run(agent, {"messages": "go"})
    assert result["log"] == ["method", "plain", "dict"]


async def test_an_object_with_run_is_given_the_live_state(run: Any) -> None:
    class Both:
        def run(self, state: State) -> None:
            state.set("log", "sync")

        async def run_async(self, state: State) -> None:
            state.set("log", "async")

    class OnlySync:
        def run(self, state: State) -> None:
            state.set("last", "sync")

    result = await run(agent_with({"before_run": [Both(), OnlySync()]}), {"messages": "go"})
    assert (result["log"][0] in {"sync", "async"}, result["last"]) == (True, "sync")


async def test_a_trace_shows_what_a_hook_set(run: Any) -> None:
    class Ends(BaseCallbackHandler):
        def __init__(self) -> None:
            self.names: dict[Any, str] = {}
            self.outputs: dict[str, Any] = {}

        def on_chain_start(self, *_: Any, run_id: Any, **kwargs: Any) -> None:
            self.names[run_id] = kwargs["name"]

        def on_chain_end(self, outputs: Any, *, run_id: Any, **_: Any) -> None:
            self.outputs[self.names[run_id]] = outputs

    @hook
    def note(state: State) -> Any:
        state.set("log", "a")
        return {"last": "x"}

    ends = Ends()
    agent = agent_with({"before_run": [note]})
    await run(agent, {"messages": "go"}, {"callbacks": [ends]})
    assert ends.outputs["note.before_agent"] == {"log": "a", "last": "x"}


def test_a_stream_shows_which_hook_set_what() -> None:
    @hook
    def note(state: State) -> None:
        state.set("log", "a")

    updates = agent_with({"before_run": [note]}).stream({"messages": "go"}, stream_mode="updates")
    assert next(iter(updates))["model"]["updated_by"] == {"note.before_agent": ["log"]}


async def test_nothing_of_the_context_reaches_the_storage(run: Any, thread: Any) -> None:
    context = {"secret": "tok-5513", "lock": threading.Lock()}

    @hook
    def use(state: State) -> None:
        with state["hook_context"]["lock"]:
            state.set("log", f"{len(state['hook_context'])} resources")

    saver = InMemorySaver()
    agent = agent_with({"before_llm": [use], "after_run": [use]}, checkpointer=saver)
    await run(agent, {"messages": "go"}, thread, context=context)
    stored = [*saver.list(thread)]
    assert stored
    assert "tok-5513" not in repr(stored)


async def test_an_edited_call_is_the_one_that_runs(run: Any) -> None:
    @hook
    def edit(state: State) -> None:
        reply = state["messages"][-1]
        calls = [{**call, "args": {"query": "edited"}} for call in reply.tool_calls]
        state.set("messages", [reply.model_copy(update={"tool_calls": calls})])

    result = await run(agent_with({"before_tool": [edit]}), {"messages": "go"})
    assert [m.text for m in result["messages"]] == ["go", "", "did edited", "done"]


async def test_a_rewritten_result_is_what_the_model_reads(run: Any) -> None:
    @hook
    def redact(state: State) -> None:
        result = state["messages"][-1]
        assert isinstance(result, ToolMessage)
        state.set("messages", [result.model_copy(update={"content": "redacted"})])

    model = two_steps()
    result = await run(agent_with({"after_tool": [redact]}, model=model), {"messages": "go"})
    assert model.requests[1][-1].text == "redacted"
    assert result["messages"][2].text == "redacted"
