"""The classes that any stored agent may name: they guard, shape and limit, and reach nothing.

What opens files, runs commands or calls functions is not among them; a program that wants a file
to use those registers them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from langgraph.graph.message import add_messages

from ... import middleware
from ...state import merge_lists, replace_values
from ..structured_output import AutoStrategy, ProviderStrategy, ToolStrategy

_NAMES = (
    "AlwaysAskPolicy",
    "AlwaysOffload",
    "ApprovalMiddleware",
    "AskOncePolicy",
    "AutoModeMiddleware",
    "ClearToolUsesEdit",
    "CompactionMiddleware",
    "ConfidencePolicy",
    "ContextEditingMiddleware",
    "HistoryWindowMiddleware",
    "HumanInTheLoopMiddleware",
    "HumanInTheLoopStrategy",
    "InjectionScreenMiddleware",
    "LLMToolEmulator",
    "LLMToolSelectorMiddleware",
    "MemoryMiddleware",
    "ModelCallLimitMiddleware",
    "ModelChoice",
    "ModelFallbackMiddleware",
    "ModelRefusalMiddleware",
    "ModelRetryMiddleware",
    "ModelRouterMiddleware",
    "ModerationMiddleware",
    "NeverAskPolicy",
    "NeverOffload",
    "OffloadOverChars",
    "PIIMiddleware",
    "PredicatePolicy",
    "ProviderToolSearchMiddleware",
    "RequireTool",
    "RichConsoleUI",
    "SimpleConsoleUI",
    "SlidingWindowCompactor",
    "SummarizationCompactor",
    "SummarizationMiddleware",
    "TodoListMiddleware",
    "TokenBudgetMiddleware",
    "ToolCallLimitMiddleware",
    "ToolErrorMiddleware",
    "ToolFirewallMiddleware",
    "ToolResultOffloadCompactor",
    "ToolResultOffloadMiddleware",
    "ToolResultPruningCompactor",
    "ToolRetryMiddleware",
)


@cache
def shipped_classes() -> Mapping[str, type[Any]]:
    """Classes of this library that a file may name."""
    strategies = {s.__name__: s for s in (AutoStrategy, ProviderStrategy, ToolStrategy)}
    return {**{name: getattr(middleware, name) for name in _NAMES}, **strategies}


SHIPPED_HANDLERS: Mapping[str, Any] = {
    "add_messages": add_messages,
    "merge_lists": merge_lists,
    "replace_values": replace_values,
}
"""Merge functions of state keys that a file may name."""
