"""The same messages come out as of LangChain's create_agent and its built-in middleware.

Each case is played three times: LangChain's middleware in its agent and, unchanged, in ours; and
where it is a built-in one, ours of the same name and settings in our agent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, NotRequired, cast

import pytest
from langchain import agents
from langchain.agents import middleware as theirs
from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    after_model,
    before_model,
    dynamic_prompt,
    hook_config,
    wrap_tool_call,
)
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.decisions import (
    BaseDecisionModel,
    ChoiceAnswer,
    ClassifierResponse,
    NoulAnswer,
)
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock import middleware as ours
from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.tools import tool

pytestmark = [
    pytest.mark.filterwarnings("ignore:The middleware `ModelRouterMiddleware` is in beta"),
    # Their shell leaves its pipes to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

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


@tool
def fail() -> str:
    """Fail."""
    msg = "no luck"
    raise ValueError(msg)


def sorry(error: Exception, _request: Any) -> str:
    return f"sorry: {error}"


FILES = Path(__file__).parent / "files"


@dataclass
class Case:
    """A list of middleware and what the models say, made anew for each run."""

    middleware: Callable[[Any], Sequence[Any]]
    """Of the module that has it."""
    script: Callable[[], Sequence[Any]]
    messages: Sequence[BaseMessage] = field(default_factory=lambda: [HumanMessage("go")])
    resume: Any = None
    worded: Collection[str] = ()
    """Types of messages that each library writes in words of its own."""


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


class Decides(BaseDecisionModel):
    """Finds every call risky, and always chooses the cheap model."""

    model: str = "decides"

    @property
    def _provider(self) -> str:
        return "test"

    def _classify(self, state: Any, questions: Any) -> ClassifierResponse:  # noqa: ARG002
        answers: Any = {
            "is_risky": NoulAnswer(type="noul", noul=0.9),
            "model_route": ChoiceAnswer(
                type="choice", choice="cheap", probabilities={"cheap": 1.0}, confidence=1.0
            ),
        }
        return ClassifierResponse(model="decides", answers={n: answers[n] for n in questions})


CASES: dict[str, Case] = {
    "own hooks, state and commands": Case(
        lambda _: [Count()], lambda: [ask(("search", {"query": "a"})), "done"]
    ),
    "a guard that ends the run": Case(
        lambda _: [Guard()], lambda: ["never"], [HumanMessage("the password?")]
    ),
    "decorated hooks": Case(lambda _: [remind, sign, prompt], lambda: ["done"]),
}

SEARCHING = ask(("search", {"query": "a"}))
APPROVING = {"decisions": [{"type": "approve"}]}
REJECTING = {"decisions": [{"type": "reject", "message": "no"}]}
REFUSAL = AIMessage(
    [{"type": "refusal", "refusal": "I will not."}],
    response_metadata={"model_provider": "openai", "output_version": "v1"},
)

BUILT_IN: dict[str, Case] = {
    "PIIMiddleware": Case(
        lambda m: [m.PIIMiddleware("email", strategy="redact", apply_to_input=True)],
        lambda: ["done"],
        [HumanMessage("write to kim@example.com")],
    ),
    "SummarizationMiddleware": Case(
        lambda m: [
            m.SummarizationMiddleware(
                scripted("the summary"), trigger=("messages", 3), keep=("messages", 1)
            )
        ],
        lambda: ["done"],
        [HumanMessage("one", id="1"), AIMessage("two", id="2"), HumanMessage("three", id="3")],
    ),
    "ModelCallLimitMiddleware": Case(
        lambda m: [m.ModelCallLimitMiddleware(run_limit=1, exit_behavior="end")],
        lambda: [SEARCHING, "never"],
    ),
    "ToolCallLimitMiddleware": Case(
        lambda m: [m.ToolCallLimitMiddleware(tool_name="search", run_limit=1)],
        lambda: [ask(("search", {"query": "a"}), ("search", {"query": "b"})), "done"],
    ),
    "ModelRetryMiddleware": Case(
        lambda m: [m.ModelRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)],
        lambda: [_flaky(), "done"],
    ),
    "ToolRetryMiddleware": Case(
        lambda m: [m.ToolRetryMiddleware(max_retries=1, initial_delay=0, jitter=False)],
        lambda: [SEARCHING, "done"],
    ),
    "ToolErrorMiddleware": Case(
        lambda m: [m.ToolErrorMiddleware(sorry)],
        lambda: [ask(("fail", {})), "done"],
    ),
    "ModelFallbackMiddleware": Case(
        lambda m: [m.ModelFallbackMiddleware(scripted("spare"))], lambda: [overloaded]
    ),
    "ModelRefusalMiddleware": Case(lambda m: [m.ModelRefusalMiddleware()], lambda: [REFUSAL]),
    "ModelRouterMiddleware": Case(
        lambda m: [
            m.ModelRouterMiddleware(
                choices={"cheap": m.ModelChoice(model=scripted("cheap"), criteria="always")},
                instructions="choose",
                classifier=Decides(),
            )
        ],
        lambda: ["never"],
    ),
    "AutoModeMiddleware": Case(
        lambda m: [m.AutoModeMiddleware(tools=["search"], classifier=Decides())],
        lambda: [ask(("search", {"query": "a"}), ("note", {"text": "b"})), "done"],
        worded=["tool"],
    ),
    "TodoListMiddleware": Case(
        lambda m: [m.TodoListMiddleware()],
        lambda: [ask(("write_todos", {"todos": [{"content": "x", "status": "pending"}]})), "done"],
        worded=["system"],
    ),
    "LLMToolEmulator": Case(
        lambda m: [m.LLMToolEmulator(tools=["search"], model=scripted("made up"))],
        lambda: [ask(("search", {"query": "a"}), ("note", {"text": "b"})), "done"],
    ),
    "LLMToolSelectorMiddleware": Case(
        lambda m: [
            m.LLMToolSelectorMiddleware(
                model=scripted(ask(("ToolSelectionResponse", {"tools": ["search"]}))), max_tools=1
            )
        ],
        lambda: ["done"],
    ),
    "ProviderToolSearchMiddleware": Case(
        lambda m: [m.ProviderToolSearchMiddleware()], lambda: [SEARCHING, "done"]
    ),
    "ContextEditingMiddleware": Case(
        lambda m: [m.ContextEditingMiddleware(edits=[m.ClearToolUsesEdit(trigger=1, keep=1)])],
        lambda: [SEARCHING, ask(("note", {"text": "b"})), "done"],
    ),
    "FilesystemFileSearchMiddleware": Case(
        lambda m: [m.FilesystemFileSearchMiddleware(root_path=str(FILES), use_ripgrep=False)],
        lambda: [
            ask(("glob_search", {"pattern": "*.txt"}), ("grep_search", {"pattern": "needle"})),
            "done",
        ],
    ),
    "ShellToolMiddleware": Case(
        lambda m: [m.ShellToolMiddleware(execution_policy=m.HostExecutionPolicy())],
        lambda: [ask(("shell", {"command": "echo one; exit_code=0"})), "done"],
    ),
    "HumanInTheLoopMiddleware": Case(
        lambda m: [m.HumanInTheLoopMiddleware(interrupt_on={"note": True})],
        lambda: [ask(("note", {"text": "a"}), ("search", {"query": "b"})), "done"],
        resume=APPROVING,
    ),
    "HumanInTheLoopMiddleware that rejects": Case(
        lambda m: [m.HumanInTheLoopMiddleware(interrupt_on={"note": True})],
        lambda: [ask(("note", {"text": "a"}), ("search", {"query": "b"})), "done"],
        resume=REJECTING,
    ),
}


def seen(messages: Sequence[BaseMessage], worded: Collection[str] = ()) -> list[tuple[Any, ...]]:
    """What messages say, the results of one step in the order of their calls."""
    ordered: list[Any] = []
    for kind, group in groupby(cast("Sequence[Any]", messages), key=lambda m: str(m.type)):
        step = list(group)
        ordered += sorted(step, key=lambda m: m.tool_call_id) if kind == "tool" else step
    return [
        (
            m.type,
            "" if m.type in worded else m.text.strip(),
            [c["name"] for c in getattr(m, "tool_calls", [])],
            getattr(m, "status", ""),
        )
        for m in ordered
    ]


async def outcome(build: Any, module: Any, case: Case, mode: str) -> tuple[Any, Any]:
    """The messages of a run, or its error, and those of each request to the model."""
    model = scripted(*case.script())
    agent = build(
        model,
        [search, note, fail],
        middleware=case.middleware(module),
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    values: list[Any] = [{"messages": list(case.messages)}]
    if case.resume is not None:
        values.append(Command(resume=case.resume))
    result: Any = None
    try:
        for value in values:
            result = (
                agent.invoke(value, config)
                if mode == "invoke"
                else await agent.ainvoke(value, config)
            )
    except Exception as error:  # noqa: BLE001 - what is raised is compared
        result = type(error).__name__
    else:
        result = seen(result["messages"], case.worded)
    return result, [seen(request, case.worded) for request in model.requests]


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("name", [*CASES, *BUILT_IN])
async def test_langchain_middleware_does_here_what_it_does_there(name: str, mode: str) -> None:
    case = {**CASES, **BUILT_IN}[name]
    here = await outcome(create_agent, theirs, case, mode)
    assert here == await outcome(THEIR_AGENT, theirs, case, mode)


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("name", BUILT_IN)
async def test_ours_of_the_same_name_does_what_theirs_does(name: str, mode: str) -> None:
    case = BUILT_IN[name]
    here = await outcome(create_agent, ours, case, mode)
    assert here == await outcome(THEIR_AGENT, theirs, case, mode)


def test_every_built_in_middleware_of_langchain_has_a_case() -> None:
    named = {name for name in theirs.__all__ if name.endswith(("Middleware", "Emulator"))}
    assert named - {"AgentMiddleware"} == {name.split()[0] for name in BUILT_IN}


async def test_a_layer_around_tools_works_in_the_mode_it_was_written_for() -> None:
    case = Case(lambda _: [shout], lambda: [SEARCHING, "done"])
    there = await outcome(THEIR_AGENT, theirs, case, "invoke")
    assert await outcome(create_agent, theirs, case, "invoke") == there
    messages, _ = await outcome(create_agent, theirs, case, "ainvoke")
    assert messages[2][1] == "ABOUT A"
