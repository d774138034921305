"""Breakpoints at a chosen point, as settings."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.middleware import (
    AgentBreakpoint,
    Breakpoint,
    BreakpointConfirmationStrategy,
    BreakpointMiddleware,
    HITLBreakpointException,
    ToolBreakpoint,
)
from interlock.state import ConfigurationError


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (Breakpoint, {"component_name": "tool_invoker"}),
        (ToolBreakpoint, {"component_name": "chat_generator"}),
        (Breakpoint, {"visit_count": -1}),
    ],
)
def test_place_must_fit_the_kind(kind: Any, settings: Any) -> None:
    with pytest.raises(ConfigurationError):
        kind(**settings)


def test_names_of_haystack_are_understood() -> None:
    point = AgentBreakpoint("agent", ToolBreakpoint("tool_invoker", snapshot_file_path="folder"))
    assert BreakpointMiddleware(point).break_point is point.break_point


def test_breakpoint_needs_a_folder() -> None:
    with pytest.raises(ConfigurationError, match="folder"):
        BreakpointMiddleware(Breakpoint())


def test_tool_must_be_there(desk: Any) -> None:
    with pytest.raises(ConfigurationError, match="'sned'"):
        desk.agent_with([BreakpointMiddleware(ToolBreakpoint(tool_name="sned"), "folder")])


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_strategy_needs_a_folder(path: str) -> None:
    with pytest.raises(ConfigurationError, match="folder"):
        BreakpointConfirmationStrategy(path)


async def test_strategy_by_itself_always_stops() -> None:
    strategy = BreakpointConfirmationStrategy("folder")
    with pytest.raises(HITLBreakpointException) as stopped:
        strategy.run(tool_name="send", tool_call_id="c1", tool_params={})
    error = stopped.value
    assert (error.tool_name, error.tool_call_id, error.snapshot_file_path) == (
        "send",
        "c1",
        "folder",
    )
    assert error.message == str(error)
    with pytest.raises(HITLBreakpointException):
        await strategy.run_async(tool_name="send", tool_params={})
