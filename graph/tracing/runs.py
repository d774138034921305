"""The runs that callbacks tell of while they are under way, and what kind of thing each one is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal
from uuid import UUID

from langgraph.types import Interrupt

from ...middleware.approval.heard import Heard
from ...middleware.collect import HOOK_POINTS, WRAP_POINTS
from ..plan import END_NODE, MODEL, TOOLS
from .steps import Steps

Kind = Literal["chain", "workflow", "agent", "node", "hook", "model", "tool"]

_NODES = frozenset({MODEL, TOOLS, END_NODE})
_POINTS = frozenset({*HOOK_POINTS, *WRAP_POINTS})


@dataclass(eq=False)
class Run:
    """A run between its beginning and its end."""

    id: UUID
    parent: Run | None
    kind: Kind
    name: str
    context: Any
    """OpenTelemetry's context when it began."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    inputs: Any = None
    """What it was given; of runs that may turn out to be agents, and only where content counts."""
    began_ns: int = field(default_factory=time.time_ns)
    span: Any = None
    attached: bool = False
    """Its span is the current one where it runs."""
    steps: Steps = field(default_factory=Steps)
    """Of an agent."""
    step_span: Any = None
    pauses: list[Interrupt] = field(default_factory=list[Interrupt])
    """What an agent's run waits for."""
    told: set[str] = field(default_factory=set[str])
    """Ids of pauses that an agent inside of it has told of."""
    decisions: list[Heard] | None = None
    """What was decided in a hook."""
    first_chunk: bool = False
    lock: Lock = field(default_factory=Lock)

    @property
    def ancestors(self) -> Iterator[Run]:
        """The runs around this one, the nearest first."""
        run = self.parent
        while run is not None:
            yield run
            run = run.parent

    @property
    def point(self) -> str:
        """Of a hook, its point."""
        return self.name.rpartition(".")[2]

    def agent(self) -> Run | None:
        """The nearest agent around it."""
        return next((run for run in self.ancestors if run.kind == "agent"), None)


def kind_of_chain(
    name: str, parent: Run | None, tags: Sequence[str] | None, metadata: Mapping[str, Any] | None
) -> Kind:
    """What a chain run is, as far as its beginning tells."""
    if parent is None:
        return "chain"
    if parent.kind in ("chain", "workflow", "agent"):
        in_graph = any(tag.startswith("graph:step:") for tag in tags or ())
        return "node" if in_graph and (metadata or {}).get("langgraph_node") == name else "chain"
    is_hook = "." in name and name.rpartition(".")[2] in _POINTS
    return "hook" if is_hook and parent.kind in ("node", "hook") else "chain"


def kind_of_graph(node: str) -> Kind:
    """What a graph is that has a node of this name."""
    return "agent" if node in _NODES else "workflow"
