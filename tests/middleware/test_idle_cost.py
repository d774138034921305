"""What guardrails cost while they have nothing to do.

The tests count supersteps and checkpoints. As a script this file measures time and prints a table:
``.venv/bin/python tests/middleware/test_idle_cost.py``.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import pytest
from langchain_core.decisions import BaseDecisionModel, ChoiceAnswer, ClassifierResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from interlock import middleware
from interlock.graph import AgentGraph, create_agent
from interlock.middleware import AgentMiddleware
from interlock.tools import tool

TURNS = 10
ROUNDS = 20
NOTHING = "no guardrail"
QUESTION = {"messages": "How will the weather be?"}


class Steady(BaseChatModel):
    """Asks for a tool in each of its first replies, reports usage, and answers; has no state."""

    @property
    def _llm_type(self) -> str:
        return "steady"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self.bind(tools=list(tools), **kwargs)

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        last: Any = messages[-1]
        step = int(last.tool_call_id) + 1 if last.type == "tool" else 0
        call: Any = {"name": "forecast", "args": {"city": "Bergen"}, "id": str(step)}
        reply = AIMessage(
            "It will be mild." if step == TURNS else "",
            tool_calls=[] if step == TURNS else [call],
            usage_metadata={"input_tokens": 20, "output_tokens": 5, "total_tokens": 25},
            response_metadata={"model_name": "steady"},
        )
        return ChatResult(generations=[ChatGeneration(message=reply)])

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return self._generate(messages)


class Decides(BaseDecisionModel):
    """Chooses the first model."""

    model: str = "decides"

    @property
    def _provider(self) -> str:
        return "test"

    def _classify(self, state: Any, questions: Any) -> ClassifierResponse:  # noqa: ARG002
        answer = ChoiceAnswer(
            type="choice", choice="only", probabilities={"only": 1.0}, confidence=1.0
        )
        return ClassifierResponse(model="decides", answers={"model_route": answer})


@tool
def forecast(city: str) -> str:
    """Forecast the weather of a city."""
    return f"{city}: mild, light wind, no rain before the evening"


@tool
def delete(path: str) -> str:
    """Delete a file."""
    return f"{path} is gone"


def harmless(_text: str) -> bool:
    return False


def explained(error: Exception, _request: Any) -> str:
    return str(error)


def guardrails() -> dict[str, Callable[[], AgentMiddleware[Any, Any, Any]]]:
    """Every guardrail by the name of its class, set so that it watches but never has to act."""
    m: Any = middleware
    model = Steady()
    return {
        "ApprovalMiddleware": lambda: m.ApprovalMiddleware({"delete": m.HumanInTheLoopStrategy()}),
        "AutoModeMiddleware": lambda: m.AutoModeMiddleware(tools=["delete"], classifier=Decides()),
        "BreakpointMiddleware": lambda: m.BreakpointMiddleware(
            m.ToolBreakpoint(tool_name="delete", snapshot_file_path="unused")
        ),
        "CompactionMiddleware": lambda: m.CompactionMiddleware(m.SlidingWindowCompactor(), 100_000),
        "ContextEditingMiddleware": lambda: m.ContextEditingMiddleware(
            edits=[m.ClearToolUsesEdit(trigger=100_000)]
        ),
        "FilesystemFileSearchMiddleware": lambda: m.FilesystemFileSearchMiddleware(root_path="."),
        "HistoryWindowMiddleware": lambda: m.HistoryWindowMiddleware(50),
        "HumanInTheLoopMiddleware": lambda: m.HumanInTheLoopMiddleware({"delete": True}),
        "InjectionScreenMiddleware": lambda: m.InjectionScreenMiddleware(action="quarantine"),
        "LLMToolEmulator": lambda: m.LLMToolEmulator(tools=["delete"], model=model),
        "LLMToolSelectorMiddleware": lambda: m.LLMToolSelectorMiddleware(
            model=model, always_include=["forecast", "delete"]
        ),
        "ModelCallLimitMiddleware": lambda: m.ModelCallLimitMiddleware(run_limit=1_000),
        "ModelFallbackMiddleware": lambda: m.ModelFallbackMiddleware(model),
        "ModelRefusalMiddleware": m.ModelRefusalMiddleware,
        "ModelRetryMiddleware": m.ModelRetryMiddleware,
        "ModelRouterMiddleware": lambda: m.ModelRouterMiddleware(
            choices={"only": m.ModelChoice(model=model, criteria="always")},
            instructions="choose",
            classifier=Decides(),
        ),
        "ModerationMiddleware": lambda: m.ModerationMiddleware(harmless),
        "PIIMiddleware": lambda: m.PIIMiddleware("email"),
        "ProviderToolSearchMiddleware": m.ProviderToolSearchMiddleware,
        "RequireTool": lambda: m.RequireTool("forecast"),
        "ShellToolMiddleware": m.ShellToolMiddleware,
        "SummarizationMiddleware": lambda: m.SummarizationMiddleware(
            model, trigger=("tokens", 100_000)
        ),
        "TodoListMiddleware": m.TodoListMiddleware,
        "TokenBudgetMiddleware": lambda: m.TokenBudgetMiddleware(1_000_000),
        "ToolCallLimitMiddleware": lambda: m.ToolCallLimitMiddleware(run_limit=1_000),
        "ToolErrorMiddleware": lambda: m.ToolErrorMiddleware(explained),
        "ToolFirewallMiddleware": lambda: m.ToolFirewallMiddleware(
            {"delete": {"path": "any"}, "*": {"*": "any"}}
        ),
        "ToolResultOffloadMiddleware": lambda: m.ToolResultOffloadMiddleware(
            m.FileSystemToolResultStore("unused")
        ),
        "ToolRetryMiddleware": m.ToolRetryMiddleware,
    }


def build(*names: str, **options: Any) -> AgentGraph:
    made: list[Any] = [guardrails()[name]() for name in names]
    tools = [t.name for m in made for t in m.tools]
    for selector in made:
        if isinstance(selector, middleware.LLMToolSelectorMiddleware):
            # With nothing to choose from it asks no model.
            selector.always_include += tools
    return create_agent(Steady(), [forecast, delete], middleware=made, **options)


def public_guardrails() -> list[str]:
    named = {name: getattr(middleware, name) for name in middleware.__all__}
    return sorted(
        name
        for name, kind in named.items()
        if isinstance(kind, type)
        and issubclass(kind, AgentMiddleware)
        and kind is not AgentMiddleware
    )


def test_every_guardrail_is_measured() -> None:
    # Memories are searched and written in each run: there is no such thing as an idle one.
    assert {*guardrails(), "MemoryMiddleware"} == {*public_guardrails()}


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_all_guardrails_together_add_no_superstep_and_no_checkpoint(
    asynchronous: bool,
) -> None:
    config: Any = {"configurable": {"thread_id": "t"}}
    counted: list[tuple[int, int]] = []
    for names in ([], sorted(guardrails())):
        agent = build(*names, checkpointer=InMemorySaver())
        if asynchronous:
            await agent.ainvoke(QUESTION, config)
        else:
            agent.invoke(QUESTION, config)
        history = list(agent.get_state_history(config))
        counted.append((len(history), history[0].metadata["step"]))  # type: ignore[index]
    # One guardrail that acts when a run ends gives the graph its node for that.
    assert counted[1] == (counted[0][0] + 1, counted[0][1] + 1)


def cpu_us(agent: AgentGraph, mode: str) -> float:
    """Microseconds of processor time that a turn takes."""
    config: Any = {"configurable": {"thread_id": str(time.perf_counter_ns())}}
    start = time.process_time()
    if mode == "ainvoke":
        asyncio.run(cast("Any", agent.ainvoke(QUESTION, config)))
    elif mode == "stream":
        list(agent.stream(QUESTION, config, stream_mode="updates"))
    else:
        agent.invoke(QUESTION, config)
    return (time.process_time() - start) / TURNS * 1e6


def measure(agents: Mapping[str, AgentGraph], mode: str) -> dict[str, float]:
    """The least that each agent took: the rest is what else the machine did."""
    taken: dict[str, list[float]] = {name: [] for name in agents}
    for _ in range(ROUNDS):
        gc.collect()
        for name, agent in agents.items():
            # The first run after another agent's finds all caches cold.
            cpu_us(agent, mode)
            taken[name].append(cpu_us(agent, mode))
    return {name: min(times) for name, times in taken.items()}


def table(modes: Mapping[str, Mapping[str, float]]) -> str:
    """Costs by agent and mode, and their ratios to those of no guardrail."""
    first = [f"{mode}, us | ratio" for mode in modes]
    lines = [f"| | {' | '.join(first)} |", "|---" * (2 * len(modes) + 1) + "|"]
    for name in next(iter(modes.values())):
        cells = [f"{t[name]:.0f} | {t[name] / t[NOTHING]:.2f}" for t in modes.values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n\n"


def main() -> None:
    """Print what each guardrail costs per turn of model and tool, and all of them together."""
    names = sorted(guardrails())
    alone = {NOTHING: build(), **{name: build(name) for name in names}}
    sys.stdout.write(table({mode: measure(alone, mode) for mode in ("invoke", "ainvoke")}))
    together = {NOTHING: build(), "all": build(*names)}
    stored = {
        NOTHING: build(checkpointer=InMemorySaver()),
        "all": build(*names, checkpointer=InMemorySaver()),
    }
    modes = {mode: measure(together, mode) for mode in ("invoke", "ainvoke", "stream")}
    sys.stdout.write(table({**modes, "with a checkpointer": measure(stored, "invoke")}))


if __name__ == "__main__":
    main()
