"""What an example acts on: it asks agents, and claims what must have happened."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, HumanMessage
from rich.console import Console
from rich.text import Text

from ...compiled import AgentGraph
from ...drawing import draw, draw_svg
from ..node_log import NodeLog


class Stage:
    """Runs agents in the open and keeps count of the claims."""

    def __init__(self, model: BaseChatModel, console: Console, folder: Path) -> None:
        self.model = model
        """The model to build agents with."""
        self.log = NodeLog(console)
        """What happened in the last run."""
        self.held = 0
        """Claims that were true."""
        self.failed: list[str] = []
        """Claims that were not."""
        self._console = console
        self._folder = folder

    def begin(self, title: str, what_for: str) -> None:
        """Begin the next example."""
        self._console.print()
        self._console.print(Text(title, style="bold"))
        self._console.print(Text(what_for, style="dim"))

    def ask(
        self,
        agent: AgentGraph,
        question: str,
        *,
        config: Mapping[str, Any] | None = None,
        **state: Any,
    ) -> dict[str, Any]:
        """Put a question to an agent and show the run.

        Args:
            agent: The agent.
            question: What the user says.
            config: As of ``invoke``.
            **state: More keys of the input.
        """
        self.log = NodeLog(self._console)
        self.log.say("user", question)
        message: AnyMessage = HumanMessage(question)
        return self.log.follow(agent, {"messages": [message], **state}, config or {})

    def claim(self, what: str, *, holds: bool) -> None:
        """Say what must be true by now.

        Args:
            what: The claim, as a sentence without a full stop.
            holds: Whether it is true.
        """
        if holds:
            self.held += 1
            self.log.say("ok", what, style="green")
        else:
            self.failed.append(what)
            self.log.say("FAILED", what, style="bold red")

    def note(self, what: str) -> None:
        """Say something that is no claim."""
        self.log.say("note", what)

    def draw(self, agent: AgentGraph, name: str) -> list[Path]:
        """Write an agent's pictures: the nodes, and every hook, as SVG and as Mermaid.

        Args:
            agent: The agent.
            name: How the files' names begin.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        files: list[Path] = []
        for hooks, suffix in ((False, ""), (True, "-hooks")):
            for kind, text in (
                ("svg", draw_svg(agent, hooks=hooks)),
                ("mmd", draw(agent, hooks=hooks)),
            ):
                path = self._folder / f"{name}{suffix}.{kind}"
                path.write_text(text, "utf-8")
                files.append(path)
        return files
