"""A guardrail on the calls a model makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from ...state.history import last_ai_message
from ...state.store_first import StoreFirstError
from ..flows import Flow, flow_layer
from .guard import CheckedMiddleware
from .kept import VERDICTS, Record, key_of, merge_verdicts, record, verdict_of


class ToolCallGuardrail(CheckedMiddleware):
    """Checks each call, ``{"name", "args", "id"}``, before it is run; ``revise`` gives arguments.

    It checks the call as layers further out hand it on. A blocked call is answered with the
    reason as an error, and the run goes on. While a person is asked about a call the others of
    the reply are run; a verdict is given once, however many pauses follow, except where the tool
    itself pauses the run: then its call is checked again when it goes on.
    """

    def _guarded(self, request: ToolCallRequest) -> Flow[Any]:
        """Check around a call."""
        call = request.tool_call
        key = key_of(_reply_id(request.state), call["id"], call["name"], call["args"])
        stored = self._records(request.state).get(key)
        fresh: dict[str, Record] = {}
        if stored is None:
            verdict = yield from self._check.verdict(call)
            stored = fresh[key] = record(verdict, call["id"], call)
            if verdict.kind == "ask":
                raise StoreFirstError(self._keep(fresh))
        verdict = verdict_of(stored)
        if verdict.kind == "ask":
            verdict = self._person(stored)
            fresh[key] = record(verdict)
        if verdict.kind == "block":
            return ToolMessage(
                verdict.reason,
                tool_call_id=cast("str", call["id"]),
                name=call["name"],
                status="error",
            )
        if verdict.kind == "revise":
            request = request.override(tool_call={**call, "args": verdict.value})
        try:
            return (yield request)
        except StoreFirstError as pause:
            if fresh:
                inner = pause.update.get(VERDICTS)
                pause.update[VERDICTS] = merge_verdicts(inner, {self._owner: fresh})
            raise

    wrap_tool_call, awrap_tool_call = flow_layer(_guarded)


def _reply_id(state: Any) -> str | None:
    """The id of the reply that makes the calls: some models count calls anew in each reply."""
    if not isinstance(state, Mapping):
        return None
    messages: Any = cast("Mapping[str, Any]", state).get("messages")
    found = last_ai_message(messages or [])
    return None if found is None else found[1].id
