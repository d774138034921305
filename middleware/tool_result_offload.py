"""Moving large tool results to a store and leaving a pointer in the conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import BaseMessage, ToolMessage

from ..state.errors import ConfigurationError, RunError
from ..state.history import last_results
from .base import AgentMiddleware
from .flows import Flow, adrive, drive
from .offload_policies import OffloadOverChars, OffloadPolicy
from .offloaded_result import OFFLOADED, Part, offload, parts_of, whole_text
from .per_tool import PerTool, ToolKey
from .tool_result_reader import READER, result_reader, store_of
from .tool_result_stores import ToolResultStore, checked_store

DEFAULT_CHARS = 20_000
"""Results up to this length stay, if nothing else is said."""


_Large = tuple[int, ToolMessage, Sequence[Part]]
"""Number of a result among those of its reply, the result, and its pieces."""


async def _aafter_tools(
    middleware: ToolResultOffloadMiddleware, state: Any, runtime: Any
) -> dict[str, Any] | None:
    large = middleware.large(state, runtime)
    return await adrive(middleware.moved(large, state, runtime), _refuse) if large else None


class ToolResultOffloadMiddleware(AgentMiddleware[Any, Any, Any]):
    """Moves results of tools to a store as soon as they arrive; the model sees where, and reads on.

    Which results is decided by tool. Errors, empty results and those that were moved already
    stay, and so does a result that cannot be stored, with a warning in the log. Images and files
    are moved only to a store that takes bytes; blocks that refer to an address stay with the
    whole result.

    References cannot be guessed, so a conversation can read only what it was told. A run whose
    context holds ``tool_result_store`` uses that store instead.

    It does not cover: results of tools that return directly to the user, which should get
    ``NeverOffload()``; earlier checkpoints of a thread, which hold the result as it came; removing
    what nobody needs any more.

    Source: Haystack 3.4.1's ``ToolResultOffloadHook``.
    """

    def __init__(
        self,
        store: ToolResultStore | None = None,
        offload_strategies: Mapping[ToolKey, OffloadPolicy] | None = None,
        *,
        preview_chars: int = 200,
        max_read_chars: int = DEFAULT_CHARS,
        reader: bool = True,
    ) -> None:
        """Make the middleware.

        Args:
            store: Where results go; None for the store that the agent was given.
            offload_strategies: Policies by tool: a name, a tuple of names, or ``"*"``. By default
                every result over 20,000 characters is moved.
            preview_chars: How much of a text stays in the conversation.
            max_read_chars: Longest portion that the model reads at a time.
            reader: Give the agent the tool ``read_tool_result``.

        Raises:
            ConfigurationError: A key names no tool, a policy is none, or a number is too small.
        """
        for name, value, least in (
            ("preview_chars", preview_chars, 0),
            ("max_read_chars", max_read_chars, 1),
        ):
            if value < least:
                msg = f"{name} is {value!r}; it must be at least {least}."
                raise ConfigurationError(msg)
        strategies: Mapping[ToolKey, OffloadPolicy] = (
            {"*": OffloadOverChars(DEFAULT_CHARS)}
            if offload_strategies is None
            else offload_strategies
        )
        for key, policy in strategies.items():
            if not callable(getattr(policy, "should_offload", None)):
                msg = f"The policy of {key!r} is {policy!r}; give one such as AlwaysOffload()."
                raise ConfigurationError(msg)
        self.store = None if store is None else checked_store(store)
        self.preview_chars = preview_chars
        self._policies = PerTool(strategies, "offload_strategies")
        self.tools = [result_reader(store, max_read_chars)] if reader else []

    def after_tools(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Move the large ones among the new results."""
        large = self.large(state, runtime)
        return drive(self.moved(large, state, runtime), _refuse) if large else None

    # With it an asynchronous run needs no worker thread for a look at small results.
    aafter_tools = _aafter_tools

    def large(self, state: Mapping[str, Any], runtime: Any) -> list[_Large]:
        """The results of the last reply that are to be moved."""
        large: list[_Large] = []
        for number, result in enumerate(last_results(state["messages"])):
            policy = self._policy(result)
            if policy is None:
                continue
            store = store_of(self.store, runtime)
            if type(policy) is OffloadOverChars and policy.keeps(whole_text(result)):
                continue
            parts = parts_of(result, store)
            if parts is not None and policy.should_offload(
                result.name or "tool", "".join(part.occupies for part in parts), state
            ):
                large.append((number, result, parts))
        return large

    def moved(
        self, large: Sequence[_Large], state: Mapping[str, Any], runtime: Any
    ) -> Flow[dict[str, Any] | None]:
        """Move results; the messages that take their places."""
        changed: list[BaseMessage] = []
        store = store_of(self.store, runtime)
        for number, result, parts in large:
            name = result.name or "tool"
            readable = (state.get("step_count", 0), name, result.tool_call_id or number)
            place = (_thread_of(runtime), readable)
            pointer = yield from offload(result, parts, store, place, self.preview_chars)
            if pointer is not None:
                changed.append(pointer)
        return {"messages": changed} if changed else None

    def _policy(self, result: ToolMessage) -> OffloadPolicy | None:
        if result.status == "error" or OFFLOADED in result.response_metadata:
            return None
        # What was just read back must not go out again.
        return None if result.name == READER else self._policies.of(result.name or "")


def _thread_of(runtime: Any) -> str | None:
    info: Any = runtime.execution_info
    return cast("str | None", info.thread_id) if info is not None else None


def _refuse(request: Any) -> Any:
    msg = f"There is no handler for {request!r}."
    raise RunError(msg)
