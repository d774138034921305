"""A guardrail on what tools bring back."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from ...state.history import last_results
from ...tools.failures import failed_message
from ..base import hook_config
from ..flows import Flow, flow_layer
from ..message_text import text_of
from ..result_messages import each_message
from .guard import CheckedMiddleware, Update, with_text
from .kept import Record, key_of, record
from .verdict import Verdict, block

_UNASKED = "This was withheld: it would have to be put to a person."
"""In the place of a message beside a result that a check wants asked about."""


class ToolResultGuardrail(CheckedMiddleware):
    """Checks the text of each tool result before the model reads it, that of a failure too.

    What is blocked or revised is neither stored nor streamed. A result that a person is to be
    asked about is stored, and the model waits; the tool is not run again. All messages of a
    ``Command`` are checked, other state updates of it are not; nor is what layers further out
    make of a result.
    """

    def _guarded(self, request: ToolCallRequest) -> Flow[Any]:
        """Check the result of a call."""
        questions: dict[str, Record] = {}
        failure: Exception | None = None
        try:
            result: Any = yield request
        except Exception as error:
            message = failed_message(request, error)
            if message is None:
                raise
            failure, result = error, message
        checked = yield from each_message(result, partial(self._message, questions))
        if failure is not None and checked is result and not questions:
            # Layers further out may have something to say to a failure.
            raise failure
        if not questions:
            return checked
        rest = cast("list[Any]", checked if isinstance(checked, list) else [checked])
        return [Command(update=self._keep(questions)), *rest]

    wrap_tool_call, awrap_tool_call = flow_layer(_guarded)

    def _message(self, questions: dict[str, Record], message: BaseMessage) -> Flow[BaseMessage]:
        text = text_of(message)
        if not text:
            return message
        verdict = yield from self._check.verdict(text)
        if verdict.kind == "ask":
            if not isinstance(message, ToolMessage):
                # It has no id yet by which it could be found behind the pause.
                return _after(message, block(_UNASKED))
            questions[key_of(message.tool_call_id, text)] = record(
                verdict, message.tool_call_id, text
            )
        return _after(message, verdict)

    @hook_config(quick=True)
    def after_tools(self, state: Any, runtime: Any) -> Update:  # noqa: ARG002
        """Ask a person about the results that a check wants asked about."""
        questions = {k: r for k, r in self._records(state).items() if r["kind"] == "ask"}
        if not questions:
            return None
        verdicts = {r.get("item"): self._person(r) for r in questions.values()}
        changed = [
            _after(message, verdict)
            for message in last_results(state["messages"])
            if (verdict := verdicts.get(message.tool_call_id)) and verdict.kind == "block"
        ]
        answered = self._keep(dict.fromkeys(questions))
        return {**answered, "messages": changed} if changed else answered


def _after(message: BaseMessage, verdict: Verdict) -> BaseMessage:
    """What a message becomes."""
    if verdict.kind not in ("block", "revise"):
        return message
    if verdict.kind == "revise":
        changed = cast("BaseMessage", with_text(message, verdict.value))
    else:
        changed = message.model_copy(update={"content": verdict.reason})
    if not isinstance(message, ToolMessage):
        return changed
    status = "error" if verdict.kind == "block" else message.status
    return changed.model_copy(update={"artifact": None, "status": status})
