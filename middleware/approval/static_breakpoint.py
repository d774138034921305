"""Stopping a run at a chosen point, to look at it and go on: breakpoints.

Source: ``AgentBreakpoint``, ``Breakpoint`` and ``ToolBreakpoint`` of Haystack 2.19.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, Self, cast

from langchain_core.messages import ToolCall
from langchain_core.tools import BaseTool

from ...state.approval_errors import HITLBreakpointException
from ...state.errors import ConfigurationError
from ...state.history import pending_calls
from ...state.schema import AgentState, PrivateStateAttr
from ...tools.calls import AWAITING, Dual
from ..base import AgentMiddleware
from .snapshot import AgentSnapshot, Point


@dataclass(frozen=True)
class Breakpoint:
    """Before a model call."""

    component_name: str = "model"
    """``model``, or Haystack's ``chat_generator``."""
    visit_count: int = 0
    """At which step: 0 is the first model call of the run."""
    snapshot_file_path: str | None = None
    """Folder for the snapshot."""

    def __post_init__(self) -> None:
        _check(self, ("model", "chat_generator"))


@dataclass(frozen=True)
class ToolBreakpoint:
    """Before the tool calls of a reply."""

    component_name: str = "tools"
    """``tools``, or Haystack's ``tool_invoker``."""
    visit_count: int = 0
    """At which step: 0 is the reply to the first model call of the run."""
    snapshot_file_path: str | None = None
    """Folder for the snapshot."""
    tool_name: str | None = None
    """Only if this tool is called; None means any."""

    def __post_init__(self) -> None:
        _check(self, ("tools", "tool_invoker"))


@dataclass(frozen=True)
class AgentBreakpoint:
    """A breakpoint of the agent of that name."""

    agent_name: str
    break_point: Breakpoint | ToolBreakpoint


class BreakpointState(AgentState[Any]):
    """Where the run stopped before, so that it does not stop there again."""

    passed_breakpoint: NotRequired[Annotated[str, PrivateStateAttr]]


class BreakpointMiddleware(AgentMiddleware[Any, Any, Any]):
    """Stops the run at a breakpoint, once, and leaves a snapshot to go on from."""

    state_schema: type[Any] = BreakpointState

    def __init__(
        self,
        break_point: AgentBreakpoint | Breakpoint | ToolBreakpoint,
        snapshot_file_path: str | None = None,
    ) -> None:
        """Stop at ``break_point``; its own folder goes before ``snapshot_file_path``.

        Raises:
            ConfigurationError: Neither names a folder for the snapshot.
        """
        super().__init__()
        inner = break_point.break_point if isinstance(break_point, AgentBreakpoint) else break_point
        folder = inner.snapshot_file_path or snapshot_file_path
        if not folder:
            msg = f"{inner!r} names no folder for its snapshot; give snapshot_file_path."
            raise ConfigurationError(msg)
        self.break_point = inner
        self._folder = folder
        self._tools: Mapping[str, BaseTool] = {}

    def for_agent(self, name: str, tools: Mapping[str, BaseTool]) -> Self:
        """This middleware with the tools of one agent.

        Raises:
            ConfigurationError: The breakpoint names a tool that the agent does not have.
        """
        wanted = getattr(self.break_point, "tool_name", None)
        if wanted is not None and wanted not in tools:
            msg = (
                f"Middleware {name!r} stops before tool {wanted!r}, which the agent does not have; "
                f"its tools are {', '.join(sorted(tools)) or 'none'}."
            )
            raise ConfigurationError(msg)
        bound = copy(self)
        bound._tools = dict(tools)  # noqa: SLF001 - its own copy
        return bound

    def before_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
        """Stop here, if this is the model call to stop before.

        Raises:
            HITLBreakpointException: With the path of the snapshot.
        """
        if self._is_due(state, "before_model"):
            self._stop(state, "before_model", None)

    async def abefore_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
        """The same in an asynchronous run; a thread writes the snapshot."""
        if self._is_due(state, "before_model"):
            await AWAITING.call(Dual("stop", sync=self._stop), state, "before_model", None)

    def before_tools(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
        """Stop here, if these are the calls to stop before.

        Raises:
            HITLBreakpointException: With the path of the snapshot.
        """
        if (call := self._awaited_call(state)) is not None:
            self._stop(state, "before_tools", call)

    async def abefore_tools(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
        """The same in an asynchronous run; a thread writes the snapshot."""
        if (call := self._awaited_call(state)) is not None:
            await AWAITING.call(Dual("stop", sync=self._stop), state, "before_tools", call)

    def _is_due(self, state: Mapping[str, Any], point: Point) -> bool:
        """Whether the run has come to the breakpoint, and for the first time."""
        visit = self.break_point.visit_count
        return (
            (point == "before_model") == isinstance(self.break_point, Breakpoint)
            and state.get("step_count", 0) == visit
            and state.get("passed_breakpoint") != f"{point}:{visit}"
        )

    def _awaited_call(self, state: Mapping[str, Any]) -> ToolCall | None:
        """The call to stop before, if it waits to be run."""
        if not self._is_due(state, "before_tools"):
            return None
        wanted = cast("ToolBreakpoint", self.break_point).tool_name
        calls = pending_calls(state.get("messages") or [])
        return next((c for c in calls if wanted in (None, c["name"])), None)

    def _stop(self, state: Mapping[str, Any], point: Point, call: ToolCall | None) -> None:
        visit = self.break_point.visit_count
        mark = f"{point}:{visit}"
        name = None if call is None else call["name"]
        snapshot = AgentSnapshot.of(
            {**state, "passed_breakpoint": mark},
            point=point,
            tool_name=name,
            descriptions={n: t.description for n, t in self._tools.items()},
        )
        path = str(snapshot.save(self._folder))
        what = f"tool {name!r}" if name else "the model call"
        msg = f"The run stopped before {what} of step {visit}; resume from the snapshot {path!r}."
        raise HITLBreakpointException(msg, name, path, None if call is None else call["id"])


def _check(break_point: Breakpoint | ToolBreakpoint, names: tuple[str, ...]) -> None:
    if break_point.component_name not in names:
        msg = (
            f"{type(break_point).__name__} cannot stop at {break_point.component_name!r}; give "
            f"{' or '.join(map(repr, names))}."
        )
        raise ConfigurationError(msg)
    if break_point.visit_count < 0:
        msg = f"visit_count is {break_point.visit_count!r}; the first visit is 0."
        raise ConfigurationError(msg)
