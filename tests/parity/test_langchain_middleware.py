"""LangChain's own middleware, unchanged: the same messages come out as of its create_agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired

import pytest
from langchain import agents
from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    HumanInTheLoopMiddleware,
    LLMToolSelectorMiddleware,
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    ModelRequest,
    ModelRetryMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    ToolCallLimitMiddleware,
    ToolRetryMiddleware,
    after_model,
    before_model,
    dynamic_prompt,
    hook_config,
    wrap_tool_call,
)
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.tools import tool

THEIR_AGENT: Any = vars(agents)["create_agent"]


def ask(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    made: Any = [
        {"name": name, "args": args, "id": f"c{number}", "type": "tool_call"}
        for number, (name, args) in enumerate(calls)
    ]
    return AIMessage("", tool_calls=made)


def scripted(*steps: Any) -> ScriptedChatModel:
    return ScriptedChatModel(list(steps))


@tool
def search(query: str) -> str:
    """Search."""
    return f"about {query}"


@tool
def note(text: str) -> str:
    """Note a text."""
    return f"noted {text}"


@dataclass
class Case:
    """A list of middleware and what the models say, made anew for each run."""

    middleware: Callable[[], Sequence[Any]]
    script: Callable[[], Sequence[Any]]
    messages: Sequence[BaseMessage] = field(default_factory=lambda: [HumanMessage("go")])
    resume: Any = None


class Counted(AgentState[Any]):
    seen: NotRequired[Annotated[int, PrivateStateAttr]]


class Count(AgentMiddleware[Any, Any]):
    """Hooks, private state, a layer with a command and LangChain's own response types."""

    state_schema = Counted

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:  # noqa: ARG002
        return {"seen": state.get("seen", 0) + 1}

    def wrap_model_call(self, request: ModelRequest, handler: Any) -> Any:
        return self._noted(request, handler(self._told(request)))

    async def awrap_model_call(self, request: ModelRequest, handler: Any) -> Any:
        return self._noted(request, await handler(self._told(request)))

    @staticmethod
    def _told(request: Any) -> Any:
        return request.override(system_prompt=f"call {request.state['seen']}")

    @staticmethod
    def _noted(request: Any, response: Any) -> Any:
        if response.result[-1].tool_calls:
            # A message here would stand between the calls and their results.
            return response
        extra: Any = Command(update={"messages": [HumanMessage(f"after {request.state['seen']}")]})
        return ExtendedModelResponse(model_response=response, command=extra)


class Guard(AgentMiddleware[Any, Any]):
    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
        if "password" in state["messages"][-1].text:
            return {"jump_to": "end", "messages": [AIMessage("No.")]}
        return None


@before_model
def remind(state: Any, runtime: Any) -> Any:  # noqa: ARG001
    return {"messages": [HumanMessage("be brief")]} if len(state["messages"]) == 1 else None


@after_model
def sign(state: Any, runtime: Any) -> Any:  # noqa: ARG001
    last = state["messages"][-1]
    return {"messages": [AIMessage(f"{last.text}!", id=last.id)]} if last.text else None


@wrap_tool_call
def shout(request: Any, handler: Any) -> Any:
    result = handler(request)
    return ToolMessage(result.text.upper(), tool_call_id=result.tool_call_id, name=result.name)


@dynamic_prompt
def prompt(request: ModelRequest) -> str:
    return f"{len(request.messages)} messages"


def overloaded(_messages: Any) -> AIMessage:
    msg = "overloaded"
    raise ValueError(msg)


def _flaky() -> Callable[[Any], AIMessage]:
    calls: list[int] = []

    def step(_messages: Any) -> AIMessage:
        calls.append(1)
        return overloaded(_messages)

    return step


CASES: dict[str, Case] = {
    "own hooks, state and commands": Case(
        lambda: [Count()], lambda: [ask(("search", {"query": "a"})), "done"]
    ),
    "a guard that ends the run": Case(
        lambda: [Guard()], lambda: ["never"], [HumanMessage("the password?")]
    ),
    "decorated hooks": Case(lambda: [remind, sign, prompt], lambda: ["done"]),
    "pii": Case(
        lambda: [PIIMiddleware("email", strategy="redact", apply_to_input=True)],
        lambda: ["done"],
        [HumanMessage("write to kim@example.com")],
    ),
    "summarization": Case(
        lambda: [
            SummarizationMiddleware(
                scripted("the summary"), trigger=("messages", 3), keep=("messages", 1)
            )
        ],
        lambda: ["done"],
        [HumanMessage("one", id="1"), AIMessage("two", id="2"), HumanMessage("three", id="3")],
    ),
    "model call limit": Case(
        lambda: [ModelCallLimitMiddleware(run_limit=1, exit_behavior="end")],
        lambda: [ask(("search", {"query": "a"})), "never"],
    ),
    "tool call limit": Case(
        lambda: [ToolCallLimitMiddleware(tool_name="search", run_limit=1)],
        lambda: [ask(("search", {"query": "a"}), ("search", {"query": "b"})), "done"],
    ),
    "model retry": Case(
        lambda: [ModelRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)],
        lambda: [_flaky(), "done"],
    ),
    "tool retry": Case(
        lambda: [ToolRetryMiddleware(max_retries=1, initial_delay=0, jitter=False)],
        lambda: [ask(("search", {"query": "a"})), "done"],
    ),
    "fallback": Case(lambda: [ModelFallbackMiddleware(scripted("spare"))], lambda: [overloaded]),
    "todo list": Case(
        lambda: [TodoListMiddleware()],
        lambda: [ask(("write_todos", {"todos": [{"content": "x", "status": "pending"}]})), "done"],
    ),
    "tool selection": Case(
        lambda: [
            LLMToolSelectorMiddleware(
                model=scripted(ask(("ToolSelectionResponse", {"tools": ["search"]}))), max_tools=1
            )
        ],
        lambda: ["done"],
    ),
    "approval": Case(
        lambda: [HumanInTheLoopMiddleware(interrupt_on={"note": True})],
        lambda: [ask(("note", {"text": "a"}), ("search", {"query": "b"})), "done"],
        resume={"decisions": [{"type": "approve"}]},
    ),
    "rejection": Case(
        lambda: [HumanInTheLoopMiddleware(interrupt_on={"note": True})],
        lambda: [ask(("note", {"text": "a"}), ("search", {"query": "b"})), "done"],
        resume={"decisions": [{"type": "reject", "message": "no"}]},
    ),
}


def seen(messages: Sequence[BaseMessage]) -> list[tuple[Any, ...]]:
    return [
        (
            m.type,
            m.text,
            [c["name"] for c in getattr(m, "tool_calls", [])],
            getattr(m, "status", ""),
        )
        for m in messages
    ]


async def outcome(build: Any, case: Case, mode: str) -> tuple[Any, Any]:
    """The messages of a run, and those of each request to the model."""
    model = scripted(*case.script())
    agent = build(model, [search, note], middleware=case.middleware(), checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    values: list[Any] = [{"messages": list(case.messages)}]
    if case.resume is not None:
        values.append(Command(resume=case.resume))
    result: Any = None
    for value in values:
        result = (
            agent.invoke(value, config) if mode == "invoke" else await agent.ainvoke(value, config)
        )
    return seen(result["messages"]), [seen(request) for request in model.requests]


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("name", CASES)
async def test_langchain_middleware_does_here_what_it_does_there(name: str, mode: str) -> None:
    case = CASES[name]
    ours = await outcome(create_agent, case, mode)
    theirs = await outcome(THEIR_AGENT, case, mode)
    assert ours == theirs


async def test_a_layer_around_tools_works_in_the_mode_it_was_written_for() -> None:
    case = Case(lambda: [shout], lambda: [ask(("search", {"query": "a"})), "done"])
    assert await outcome(create_agent, case, "invoke") == await outcome(THEIR_AGENT, case, "invoke")
    messages, _ = await outcome(create_agent, case, "ainvoke")
    assert messages[2][1] == "ABOUT A"
