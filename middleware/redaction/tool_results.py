"""Tool calls with sensitive data kept out of their results, and put back into their arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, Overwrite

from ...state.errors import ConfigurationError
from ...state.guardrail_errors import PIIDetectionError
from ..flows import Flow, flow_layer
from .clean_error import clean_error
from .quiet_tool import QuietTool
from .redactor import FOUND, Redactor
from .surfaces import change_value
from .vault import restore_value

WITHHELD = "interlock_withheld"
"""Marks, in ``additional_kwargs``, a result that a blocking rule kept back: kind and count."""


class ToolResults:
    """A layer around tool calls.

    Args:
        redactor: What is looked for.
        covers: Results are looked at.
        restores: Tools whose arguments get back what was put aside: all, none, or those named.
    """

    def __init__(self, redactor: Redactor, *, covers: bool, restores: bool | Sequence[str]) -> None:
        if isinstance(restores, str):
            msg = f"restore_tools is {restores!r}; give True, False or a list of tool names."
            raise ConfigurationError(msg)
        self._redactor = redactor
        self._covers = covers
        self._restores = restores

    def _flow(self, request: ToolCallRequest) -> Flow[Any]:
        """The layer in a synchronous run."""
        call, found = request.tool_call, dict[str, str]()
        token = FOUND.set(found)
        try:
            answer: Any = yield self._prepared(request)
            result = self._clean(answer) if self._covers else answer
        except GraphBubbleUp:
            raise
        except PIIDetectionError as error:
            return withheld(ToolMessage("", tool_call_id=call["id"], name=call["name"]), error)
        except Exception as error:
            clean = clean_error(error, self._redactor, call) if self._covers else error
            if clean is error:
                raise
            raise clean from None
        finally:
            FOUND.reset(token)
        if not found:
            return result
        rest = cast("list[Any]", result if isinstance(result, list) else [result])
        return [Command(update={"pii_vault": found}), *rest]

    wrap_tool_call, awrap_tool_call = flow_layer(_flow)

    def refuse_withheld(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
        """End the run if one of the results at the end of the conversation was withheld.

        Raises:
            PIIDetectionError: One was.
        """
        for message in reversed(cast("list[BaseMessage]", state["messages"])):
            if not isinstance(message, ToolMessage):
                return
            mark = message.additional_kwargs.get(WITHHELD)
            if isinstance(mark, Mapping):
                kind = str(cast("Any", mark).get("type"))
                count = int(cast("Any", mark).get("count", 1))
                raise PIIDetectionError(kind, [{"type": kind, "value": "[withheld]"}] * count)

    def _prepared(self, request: ToolCallRequest) -> ToolCallRequest:
        call = request.tool_call
        named = self._restores
        if named is True or (named is not False and call["name"] in named):
            vault = cast("dict[str, str]", request.state.get("pii_vault") or {})
            args = restore_value(call["args"], vault)
            if args is not call["args"]:
                request = request.override(tool_call={**call, "args": args})
        if self._covers and request.tool is not None and _is_heard(request):
            request = request.override(tool=self._quiet(request))
        return request

    def _quiet(self, request: ToolCallRequest) -> BaseTool:
        """The tool with its function's result redacted before a callback is told of it."""
        redactor = self._redactor
        quiet = QuietTool(
            result=self._clean,
            artifact=lambda value: change_value(
                value, redactor.redact, redactor.kept_keys, strict=True
            ),
            error=lambda error: clean_error(error, redactor, request.tool_call),
        )
        return quiet.of(cast("BaseTool", request.tool))

    def _clean(self, result: Any) -> Any:
        """What a tool or a layer returned, redacted; of commands, only the messages."""
        if isinstance(result, list):
            return [self._clean(item) for item in cast("list[Any]", result)]
        if not isinstance(result, Command):
            return change_value(result, self._redactor.redact, self._redactor.kept_keys)
        command = cast("Command[Any]", result)
        # A dict, pairs, a model or a dataclass: all that langgraph reads.
        pairs = command._update_as_tuples()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        if all(key != "messages" for key, _ in pairs):
            return command
        update = [(k, self._messages(v) if k == "messages" else v) for k, v in pairs]
        is_dict = isinstance(command.update, Mapping)
        return replace(command, update=dict(update) if is_dict else update)

    def _messages(self, messages: Any) -> Any:
        if isinstance(messages, Overwrite):
            return Overwrite(self._messages(messages.value))
        return change_value(messages, self._redactor.redact)


def withheld(result: ToolMessage, error: PIIDetectionError) -> ToolMessage:
    """What stands in for a result that may not be seen."""
    return ToolMessage(
        f"The result was withheld: it contains {error.pii_type}.",
        id=result.id,
        tool_call_id=result.tool_call_id,
        name=result.name,
        status="error",
        additional_kwargs={WITHHELD: {"type": error.pii_type, "count": len(error.matches)}},
    )


def _is_heard(request: ToolCallRequest) -> bool:
    """Whether callback handlers listen to the tool."""
    runtime = cast("Any", request.runtime)
    config: Any = getattr(runtime, "config", None) or {}
    return bool(getattr(config.get("callbacks"), "handlers", None))
