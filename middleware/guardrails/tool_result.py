"""A guardrail on what tools bring back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, convert_to_messages
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, Overwrite

from ...tools.failures import failed_message
from ..base import hook_config
from ..flows import Flow, flow_layer
from .guard import CheckedMiddleware, Update, with_text
from .kept import Record, key_of, record
from .verdict import Verdict


class ToolResultGuardrail(CheckedMiddleware):
    """Checks the text of each tool result before the model reads it, that of a failure too.

    What is blocked or revised is neither stored nor streamed. A result that a person is to be
    asked about is stored, and the model waits; the tool is not run again. Results inside a
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
        checked = yield from self._checked(result, questions)
        if failure is not None and checked is result and not questions:
            # Layers further out may have something to say to a failure.
            raise failure
        if not questions:
            return checked
        rest = cast("list[Any]", checked if isinstance(checked, list) else [checked])
        return [Command(update=self._keep(questions)), *rest]

    wrap_tool_call, awrap_tool_call = flow_layer(_guarded)

    def _checked(self, result: Any, questions: dict[str, Record]) -> Flow[Any]:
        """What a call came to with its messages checked: a message, a command, or both in a list."""
        if isinstance(result, ToolMessage):
            return (yield from self._message(result, questions))
        if isinstance(result, (list, tuple)):
            parts: list[Any] = []
            for item in cast("Sequence[Any]", result):
                parts += [(yield from self._checked(item, questions))]
            return parts
        if not isinstance(result, Command):
            return result
        command = cast("Command[Any]", result)
        # A dict, pairs, a model or a dataclass: all that langgraph reads.
        pairs = command._update_as_tuples()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        update: list[tuple[str, Any]] = []
        for key, value in pairs:
            checked = value
            if key == "messages":
                inside = value.value if isinstance(value, Overwrite) else value
                messages = yield from self._checked(_as_messages(inside), questions)
                checked = Overwrite(messages) if isinstance(value, Overwrite) else messages
            update.append((key, checked))
        if all(key != "messages" for key, _ in update):
            return command
        return replace(command, update=dict(update))

    def _message(self, message: ToolMessage, questions: dict[str, Record]) -> Flow[ToolMessage]:
        if not message.text:
            return message
        verdict = yield from self._check.verdict(message.text)
        if verdict.kind == "ask":
            key = key_of(message.tool_call_id, message.text)
            questions[key] = record(verdict, message.tool_call_id, message.text)
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
            for message in _last_results(state["messages"])
            if (verdict := verdicts.get(message.tool_call_id)) and verdict.kind == "block"
        ]
        answered = self._keep(dict.fromkeys(questions))
        return {**answered, "messages": changed} if changed else answered


def _after(message: ToolMessage, verdict: Verdict) -> ToolMessage:
    """What a result becomes."""
    if verdict.kind == "block":
        update = {"content": verdict.reason, "artifact": None, "status": "error"}
        return message.model_copy(update=update)
    if verdict.kind == "revise":
        return cast("ToolMessage", with_text(message, verdict.value)).model_copy(
            update={"artifact": None}
        )
    return message


def _as_messages(value: Any) -> list[Any]:
    """The entries of an update of messages, those in another notation as messages."""
    entries = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [e if isinstance(e, BaseMessage) else convert_to_messages([e])[0] for e in entries]


def _last_results(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    """The results behind the last reply."""
    found: list[ToolMessage] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, ToolMessage):
            found.append(message)
    return found[::-1]
