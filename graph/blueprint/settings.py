"""The settings of ``Agent``: those of ``create_agent``, and what only a value can have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ...middleware.approval import ApprovalMiddleware
from ...state.errors import ConfigurationError
from ...state.suggestion import refuse_unknown
from ..settings import DEFAULTS, AgentSettings
from .chunks import StreamingCallback, check_callback


class BlueprintSettings(AgentSettings, total=False):
    """Keyword arguments of ``Agent`` besides ``model`` and ``tools``; each may be left out."""

    streaming_callback: StreamingCallback | None
    """Called with each piece of a reply as it comes; a run may be given another one."""
    stream_tool_results: bool
    """Call it with the results of tools, too; True by default."""
    confirmation_strategies: Mapping[Any, Any] | None
    """Who is asked before a tool is called, by tool name, by a tuple of names, or ``"*"``: short
    for an ``ApprovalMiddleware`` registered last."""
    raise_on_tool_invocation_failure: bool
    """True ends the run when a tool fails: short for ``on_tool_error="raise"``."""


OWN_DEFAULTS: dict[str, Any] = {
    "streaming_callback": None,
    "stream_tool_results": True,
    "confirmation_strategies": None,
    "raise_on_tool_invocation_failure": False,
}
"""What holds where a setting that only ``Agent`` has is left out."""

NAMES = ("model", "tools", *DEFAULTS, *OWN_DEFAULTS)
"""Every setting of ``Agent``."""


HAYSTACK_SETTINGS = {
    "chat_generator": "model",
    "chat_message_store": "checkpointer, and HistoryWindowMiddleware for last_k",
    "memory_store": "store, with MemoryMiddleware",
    "tool_invoker_kwargs": "raise_on_tool_invocation_failure, tool_concurrency_limit",
    "tool_streaming_callback_passthrough": "ToolRuntime.stream_writer in the tool",
}
"""What settings of Haystack's agents are here. Source: Haystack 2.19 to 3.4."""


def check_names(given: Mapping[str, Any]) -> None:
    """Refuse what is no setting.

    Raises:
        TypeError: It names the setting that may be meant.
    """
    refuse_unknown("Agent", given, NAMES, HAYSTACK_SETTINGS)


def graph_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as ``create_agent`` takes them.

    Raises:
        ConfigurationError: Two settings contradict each other.
    """
    check_callback(given.get("streaming_callback"))
    settings = {k: v for k, v in given.items() if k in DEFAULTS}
    # A string prompt of an Agent is a template, as in Haystack.
    settings.setdefault("required_variables", DEFAULTS.get("required_variables"))
    if given.get("raise_on_tool_invocation_failure"):
        if settings.get("on_tool_error", "raise") not in ("raise", "message"):
            msg = (
                "raise_on_tool_invocation_failure is True and on_tool_error is a function; "
                "give one of them."
            )
            raise ConfigurationError(msg)
        settings["on_tool_error"] = "raise"
    if strategies := given.get("confirmation_strategies"):
        middleware = list(settings.get("middleware") or ())
        settings["middleware"] = [*middleware, ApprovalMiddleware(strategies)]
    return settings


def copied(value: Any) -> Any:
    """``value`` with every list, dict, tuple and set in it made anew, and all else shared."""
    if type(value) is dict:
        return {k: copied(v) for k, v in cast("dict[Any, Any]", value).items()}
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(map(copied, value))
    return value
