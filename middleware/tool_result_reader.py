"""The tool by which a model reads a result that was moved to a store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.prebuilt import ToolRuntime

from ..state.errors import RunError, StorageError
from .tool_result_stores import LangGraphToolResultStore, ToolResultStore, checked_store

READER = "read_tool_result"

CONTEXT_KEY = "tool_result_store"
"""Key, or attribute, of a run's ``context`` with a store for this run alone."""

_DESCRIPTION = (
    "Read a tool result that was moved to the store, by the reference that stands in its place. "
    "Long texts come in portions; go on at the offset that is given at the end of a portion."
)


def store_of(own: ToolResultStore | None, runtime: Any) -> ToolResultStore:
    """The store for a run: the one in its context, else ``own``, else the agent's store.

    Raises:
        RunError: There is none.
        ConfigurationError: What the context holds is no store.
    """
    context: Any = runtime.context
    if isinstance(context, Mapping):
        given: Any = cast("Mapping[str, Any]", context).get(CONTEXT_KEY)
    else:
        given = getattr(context, CONTEXT_KEY, None)
    if given is not None:
        return checked_store(given)
    if own is not None:
        return own
    if runtime.store is None:
        msg = "There is no store for tool results; give create_agent a store, or the middleware."
        raise RunError(msg)
    return LangGraphToolResultStore(runtime.store)


def result_reader(store: ToolResultStore | None = None, max_chars: int = 20_000) -> BaseTool:
    """A tool ``read_tool_result(reference, offset=0)``.

    Args:
        store: Where it reads, unless the run's context has a store; None for the agent's store.
        max_chars: Longest portion.
    """

    def read_tool_result(reference: str, runtime: ToolRuntime[Any, Any], offset: int = 0) -> str:
        try:
            content = store_of(store, runtime).read(reference)
        except StorageError as error:
            raise ToolException(str(error)) from error
        if isinstance(content, bytes):
            return f"{reference!r} holds {len(content)} bytes that are no text."
        return _portion(content, offset, max_chars)

    return StructuredTool.from_function(
        read_tool_result, name=READER, description=_DESCRIPTION, handle_tool_error=True
    )


def _portion(text: str, offset: int, length: int) -> str:
    if not 0 <= offset <= len(text):
        msg = f"offset is {offset}; the text has {len(text)} characters."
        raise ToolException(msg)
    end = offset + length
    if end >= len(text):
        return text[offset:]
    return f"{text[offset:end]}\n[characters {offset} to {end} of {len(text)}; go on at {end}]"
