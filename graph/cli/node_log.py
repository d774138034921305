"""A run, shown while it happens: what each node, hook, model call and tool did."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import LLMResult
from rich.console import Console
from rich.text import Text

from ...middleware.collect import HOOK_POINTS
from ...state.ledger import LEDGER_OUTPUTS
from ..compiled import AgentGraph
from ..drawing.lettering import printable
from ..plan import END_NODE, MODEL, TOOLS

_UNSHOWN = frozenset({"messages", "jump_to", "updated_by", *LEDGER_OUTPUTS})
"""State keys that are shown in another way, or not at all."""

_LONGEST = 160
"""Characters of a value that are shown."""

_LABEL = 9
"""The width of the left column in letters."""


class NodeLog(BaseCallbackHandler):
    """Prints a run node by node, and remembers what happened.

    Give it to one run at a time. It is a callback handler, so it shows hooks and tools where they
    run; each state key that a node changed follows when the node is done.
    """

    run_inline = True
    raise_error = True

    def __init__(self, console: Console) -> None:
        self._console = console
        self._begun: dict[UUID, tuple[str, float]] = {}
        self._node = ""
        self.events: list[str] = []
        """What ran, in order: ``model``, ``tool name``, or a hook as ``middleware.hook``."""

    def follow(self, agent: AgentGraph, value: Any, config: Mapping[str, Any]) -> dict[str, Any]:
        """Run an agent and show the run.

        Args:
            agent: The agent.
            value: The input of the run.
            config: As of ``invoke``.

        Returns:
            What ``invoke`` would return.
        """
        result: dict[str, Any] = {}
        watched: Any = {**config, "callbacks": [self]}
        for kind, chunk in agent.stream(value, watched, stream_mode=["updates", "values"]):
            if kind == "updates":
                self._show_changes(cast("Mapping[str, Any]", chunk))
            else:
                result = cast("dict[str, Any]", chunk)
        return result

    def say(self, who: str, what: str, *, style: str = "") -> None:
        """Print one line: who, and what they said or did.

        Args:
            who: A word for the left column; nothing where it is the same as before.
            what: Any text; what a terminal would take for a command is shown, not followed.
            style: A style of rich for the text.
        """
        label = f"{who:<{_LABEL}}"
        text = Text(printable(what), style=style)
        for line in text.wrap(self._console, max(self._console.width - _LABEL, 20)):
            line.rstrip()
            self._console.print(Text.assemble((label, "bold cyan"), line), soft_wrap=True)
            label = " " * _LABEL

    def on_chain_start(
        self,
        serialized: Any,  # noqa: ARG002 - langchain-core's signature
        inputs: Any,  # noqa: ARG002 - langchain-core's signature
        *,
        run_id: UUID,
        name: str = "",
        **_: Any,
    ) -> None:
        """A node or a hook begins."""
        self._begun[run_id] = (name, time.monotonic())
        if name in {MODEL, TOOLS, END_NODE}:
            self._node = name

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:
        """A hook is done."""
        name, _since = self._begun.pop(run_id, ("", 0.0))
        if name.rpartition(".")[2] not in HOOK_POINTS:
            return
        self.events.append(name)
        self._did(f"{name} {_said_by_hook(outputs)}")

    def on_chat_model_start(
        self,
        serialized: Any,  # noqa: ARG002 - langchain-core's signature
        messages: Any,  # noqa: ARG002 - langchain-core's signature
        *,
        run_id: UUID,
        **_: Any,
    ) -> None:
        """The model is asked."""
        self.events.append("model")
        self._begun[run_id] = ("", time.monotonic())

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """The model has answered."""
        _name, since = self._begun.pop(run_id, ("", time.monotonic()))
        message = getattr(response.generations[0][0], "message", None)
        if isinstance(message, AIMessage):
            seconds = f"{time.monotonic() - since:.1f} s"
            self._did(f"the model {_said_by_model(message)} ({_how_sure(message)}{seconds})")

    def on_tool_end(self, output: Any, **_: Any) -> None:
        """A tool has answered."""
        if isinstance(output, ToolMessage):
            self.events.append(f"tool {output.name}")
            self._did(f"{output.name} gave {_short(output.text)}")

    def _did(self, what: str) -> None:
        node, self._node = self._node, ""
        self.say(node, what)

    def _show_changes(self, updates: Mapping[str, Any]) -> None:
        for update in updates.values():
            # A node that ran as several tasks, or changed nothing, has a list or None here.
            parts = cast("list[Any]", update if isinstance(update, list) else [update])
            for part in filter(None, parts):
                for key, value in part.items():
                    if key not in _UNSHOWN:
                        self.say("", f"state: {key} is now {_short(value)}")


def _said_by_hook(outputs: Any) -> str:
    if not isinstance(outputs, Mapping):
        return "changed nothing" if outputs is None else "changed something"
    update = cast("Mapping[str, Any]", outputs)
    if jump := update.get("jump_to"):
        return f"jumped to {jump}"
    if reason := update.get("stop_run"):
        return f"stopped the run: {reason}"
    return f"updated {', '.join(update)}"


def _said_by_model(message: AIMessage) -> str:
    if message.tool_calls:
        calls = [f"{c['name']}({_arguments(c['args'])})" for c in message.tool_calls]
        return f"called {_short(' and '.join(calls))}"
    return f"answered {_short(message.text)}"


def _arguments(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def _how_sure(message: BaseMessage) -> str:
    confidence = message.response_metadata.get("confidence")
    return f"confidence {confidence:.2f}, " if isinstance(confidence, float) else ""


def _short(value: object) -> str:
    text = value if isinstance(value, str) else _as_text(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _as_text(value: object) -> str:
    if isinstance(value, (Mapping, Sequence)):
        return json.dumps(value, ensure_ascii=False, default=repr)
    return repr(value)
