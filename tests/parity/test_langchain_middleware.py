"""The same messages come out as of LangChain's create_agent with its built-in middleware.

Each case is played three times: LangChain's middleware in its agent and, unchanged, in ours; and
ours of the same name and settings in our agent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain import agents
from langchain.agents import middleware as theirs
from langchain_core.decisions import (
    BaseDecisionModel,
    ChoiceAnswer,
    ClassifierResponse,
    NoulAnswer,
)
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from interlock import middleware as ours
from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel

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


def sorry(error: Exception, _request: Any) -> str:
    return f"sorry: {error}"


FILES = Path(__file__).parent / "files"


@dataclass
class Case:
    """A list of middleware and what the models say, made anew for each run."""

    middleware: Callable[[Any], Sequence[Any]]
    """Of the module that has it."""
    script: Callable[[], Sequence[Any]]
    messages: Sequence[BaseMessage] = ()
    """Without any, the run begins with "go"."""
    resume: Any = None
    worded: Collection[str] = ()
    """Types of messages that each library writes in words of its own."""

    def run(self, module: Any) -> dict[str, Any]:
        """Give what a run of this case is made of, with the middleware of a module."""
        made = {"middleware": self.middleware(module), "script": self.script()}
        return {**made, "messages": self.messages, "resume": self.resume, "worded": self.worded}


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


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("name", BUILT_IN)
async def test_langchain_middleware_does_here_what_it_does_there(
    outcome: Any, name: str, mode: str
) -> None:
    case = BUILT_IN[name]
    here = await outcome(create_agent, mode, **case.run(theirs))
    assert here == await outcome(THEIR_AGENT, mode, **case.run(theirs))


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("name", BUILT_IN)
async def test_ours_of_the_same_name_does_what_theirs_does(
    outcome: Any, name: str, mode: str
) -> None:
    case = BUILT_IN[name]
    here = await outcome(create_agent, mode, **case.run(ours))
    assert here == await outcome(THEIR_AGENT, mode, **case.run(theirs))


def test_every_built_in_middleware_of_langchain_has_a_case() -> None:
    named = {name for name in theirs.__all__ if name.endswith(("Middleware", "Emulator"))}
    assert named - {"AgentMiddleware"} == {name.split()[0] for name in BUILT_IN}


def test_every_name_that_langchain_exports_is_exported_here() -> None:
    assert set(theirs.__all__) <= set(ours.__all__)
