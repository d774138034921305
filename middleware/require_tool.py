"""A run that may not end before a certain tool has done its work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any

from langchain_core.messages import (
    BaseMessage,
    HumanMessage,
    ToolMessage,
    add_notification_metadata,
)
from langchain_core.tools import BaseTool

from ..state.errors import ConfigurationError
from ..state.suggestion import did_you_mean
from .base import AgentMiddleware, hook_config

INSTRUCTION = "Before you finish, call the tool {tool}."


class RequireTool(AgentMiddleware[Any, Any, Any]):
    """Sends the model back, when the run is about to end, until a tool has succeeded.

    Give it as a middleware, or as a hook: ``hooks={"on_exit": [RequireTool("save_result")]}``. It
    acts where an exit condition is met; the step limit and every other limit still end the run,
    so a result without the tool's call is possible: look at ``exit_reason``.
    """

    allowed_hook_points = ("on_exit",)

    def __init__(self, tool: str, *, instruction: str = INSTRUCTION) -> None:
        """Require a tool.

        Args:
            tool: Its name.
            instruction: What the model is told when the call is missing; ``{tool}`` stands for
                the name.

        Raises:
            ConfigurationError: There is no name, or the instruction is empty or has other fields.
        """
        if not isinstance(tool, str) or not tool.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
            msg = f"RequireTool was given the tool {tool!r}; give the name of a tool."
            raise ConfigurationError(msg)
        self.tool = tool
        self.instruction = _filled(instruction, tool)

    @property
    def name(self) -> str:
        """Name in errors and traces."""
        return f"RequireTool[{self.tool}]"

    def for_agent(self, name: str, tools: Mapping[str, BaseTool]) -> RequireTool:  # noqa: ARG002
        """Check that the agent has the tool, where no others can come.

        Raises:
            ConfigurationError: It has no tool of that name.
        """
        if self.tool not in tools:
            msg = (
                f"RequireTool needs the tool {self.tool!r}, which the agent does not have; "
                f"its tools are {', '.join(tools) or 'none'}.{did_you_mean(self.tool, tools)}"
            )
            raise ConfigurationError(msg)
        return self

    @hook_config(quick=True)
    def on_exit(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
        """Ask the model again unless the tool has succeeded in this run."""
        return self.run(state)

    def run(self, state: Mapping[str, Any]) -> dict[str, Any] | None:
        """The hook itself, for ``hooks={"on_exit": [...]}``."""
        calls = state.get("tool_call_counts", {}).get(self.tool, 0)
        if succeeded(state.get("messages", []), self.tool, calls):
            return None
        note = add_notification_metadata(HumanMessage(self.instruction), source=self.name)
        return {"messages": [note], "continue_run": True}


def succeeded(messages: Sequence[BaseMessage], tool: str, calls: int) -> bool:
    """Whether one of the last ``calls`` calls of a tool did not end in an error.

    A result that is not in the conversation any more counts as a success.
    """
    if calls == 0:
        return False
    results = [m for m in messages if isinstance(m, ToolMessage) and m.name == tool][-calls:]
    return len(results) < calls or any(m.status != "error" for m in results)


def _filled(instruction: Any, tool: str) -> str:
    try:
        fields = {field for _, field, _, _ in Formatter().parse(instruction) if field is not None}
    except (TypeError, ValueError) as error:
        msg = f"The instruction {instruction!r} is no template: {error}"
        raise ConfigurationError(msg) from error
    if fields - {"tool"} or not instruction.strip():
        msg = f"The instruction {instruction!r} must be text whose only field is {{tool}}."
        raise ConfigurationError(msg)
    return str(instruction.format(tool=tool))
