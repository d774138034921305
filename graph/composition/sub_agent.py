"""One call of an agent by another one: its input, its run, and what becomes of its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import ParentCommand
from langgraph.prebuilt import ToolRuntime

from ...state.errors import ConfigurationError, InvalidInputError, ToolExecutionError
from ...state.exit_reasons import EXIT_STRUCTURED_RESPONSE, EXIT_TEXT
from ...state.fatal import fatal
from ...state.ledger import INNER_USAGE
from ...state.limit_errors import LimitExceededError
from ...tools.calls import Calls, Dual
from ...tools.results import content_of
from ..engine import name_of
from .arguments import TASK
from .compiled_agent import known_input
from .nesting import (
    beginning_anew,
    depth_of,
    identified,
    nested_config,
    remembered_config,
    saver_of,
)

INCOMPLETE = (
    "[Agent {name!r} stopped before it was done ({reason}); what it says may be incomplete.]"
)
DEEPEST = 16
"""Agents inside of each other: those that call themselves, or each other, would never end."""

NO_ANSWER = "(The agent gave no answer.)"

Result = Literal["last_message", "structured_response"] | Callable[[dict[str, Any]], Any]
"""What the calling agent gets: the text of the last message, the structured answer, or what a
function makes of the whole result; None: the structured answer if there is one, else the text."""

ToInput = Callable[[dict[str, Any], ToolRuntime[Any, Any]], Mapping[str, Any]]
"""``(arguments, runtime) -> input of the agent``."""


@dataclass(frozen=True)
class SubAgent:
    """An agent as another one calls it."""

    name: str
    """Name of the tool."""
    graph: Any
    """The compiled agent, without a checkpointer of its own."""
    to_input: ToInput | None
    result: Result | None
    remember: bool
    """All calls of a thread go on with one conversation."""
    count_usage: bool
    """What it used is added to the usage of the calling run."""
    complete: frozenset[str]
    """Exit reasons of runs that came to their end."""

    async def ask(
        self, calls: Calls, args: dict[str, Any], runtime: ToolRuntime[Any, Any]
    ) -> ToolMessage:
        """Run the agent and answer the call.

        Raises:
            InvalidInputError: ``to_input`` gives what is no input of the agent.
            ToolExecutionError: It gave no structured answer, or wanted to hand over.
            ConfigurationError: It is to remember, and nothing stores threads.
            LimitExceededError: It runs inside of too many others.
            GraphInterrupt: It waits for an answer; the same call goes on with it later.
        """
        if depth_of(runtime.config) >= DEEPEST:
            msg = (
                f"Agent {self.name!r} is called inside of {DEEPEST} others, so agents call each "
                "other without an end; give it other tools or another task."
            )
            raise fatal(LimitExceededError(msg))
        value = self._input(args, runtime)
        config = await self._config(calls, runtime)
        run = Dual(self.name, self.graph.invoke, self.graph.ainvoke)
        try:
            result = await calls.call(run, value, config)
        except ParentCommand as command:
            msg = (
                f"Agent {self.name!r} wants to hand over to {command.args[0].goto!r}, but it was "
                "called as a tool and can only answer."
            )
            raise ToolExecutionError(
                msg, tool_name=self.name, tool_call_id=runtime.tool_call_id
            ) from None
        return self._answer(cast("dict[str, Any]", result), runtime)

    def _input(self, args: dict[str, Any], runtime: ToolRuntime[Any, Any]) -> dict[str, Any]:
        if self.to_input is not None:
            made = dict(self.to_input(args, runtime))
            try:
                return known_input(self.graph, made, f"to_input of {self.name!r}")
            except InvalidInputError as error:
                # A mistake of the program, which no model can mend.
                raise fatal(error) from None
        given = {key: value for key, value in args.items() if key != TASK}
        if TASK in args:
            before: list[Any] = given.get("messages") or []
            given["messages"] = [*before, HumanMessage(str(args[TASK]))]
        return given

    async def _config(self, calls: Calls, runtime: ToolRuntime[Any, Any]) -> RunnableConfig:
        call_id = runtime.tool_call_id or ""
        given = identified(runtime.config, name_of(self.graph) or self.name, call_id)
        if not self.remember:
            return nested_config(given, self.name, call_id)
        if saver_of(runtime.config) is None:
            msg = (
                f"Agent tool {self.name!r} is to remember, but nothing stores the thread; give the "
                "calling agent a checkpointer, or leave out remember."
            )
            raise fatal(ConfigurationError(msg))
        config = remembered_config(given, self.name, call_id)
        return await beginning_anew(calls, config, config)

    def _answer(self, result: dict[str, Any], runtime: ToolRuntime[Any, Any]) -> ToolMessage:
        content = content_of(self.name, self._content(result, runtime))
        reason: str | None = result.get("exit_reason")
        if reason is not None and reason not in self.complete:
            content = _with_note(content, INCOMPLETE.format(name=self.name, reason=reason))
        metadata: dict[str, Any] = {"exit_reason": reason} if reason is not None else {}
        if self.count_usage and (usage := result.get("token_usage")):
            metadata[INNER_USAGE] = usage
        return ToolMessage(
            content,
            tool_call_id=runtime.tool_call_id or "",
            name=self.name,
            response_metadata=metadata,
        )

    def _content(self, result: dict[str, Any], runtime: ToolRuntime[Any, Any]) -> Any:
        if callable(self.result):
            return self.result(result)
        structured = result.get("structured_response")
        if self.result == "last_message" or (self.result is None and structured is None):
            return _last_text(result)
        if structured is None:
            reason = result.get("exit_reason", "for no known reason")
            msg = f"Agent {self.name!r} ended ({reason}) without the structured answer that is due."
            raise ToolExecutionError(msg, tool_name=self.name, tool_call_id=runtime.tool_call_id)
        return structured


def complete_reasons(graph: Any) -> frozenset[str]:
    """The exit reasons that mean that an agent did what it was asked: those of its conditions."""
    plan = next((p for n in graph.nodes.values() if (p := getattr(n.bound, "plan", None))), None)
    exits: frozenset[str] = getattr(getattr(plan, "exits", None), "tools", frozenset())
    direct = _direct_tools(plan)
    return frozenset({EXIT_TEXT, EXIT_STRUCTURED_RESPONSE}) | exits | direct


def _direct_tools(plan: Any) -> frozenset[str]:
    if plan is None:
        return frozenset()
    tools = plan.executor.tools.by_name
    return frozenset(name for name, tool in tools.items() if tool.return_direct)


def _last_text(result: dict[str, Any]) -> str:
    """The text of the last message that has one; a result of a tool may be the answer."""
    for message in reversed(result.get("messages") or []):
        if message.text.strip():
            return str(message.text)
        if isinstance(message, AIMessage):
            break
    return NO_ANSWER


def _with_note(content: str | list[Any], note: str) -> str | list[Any]:
    if isinstance(content, str):
        return f"{content}\n\n{note}"
    return [*content, {"type": "text", "text": note}]
