"""The phases of a run, the nodes they live in, and the moves from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from langchain_core.messages import ToolCall

from ..state.failures import Failure
from ..state.ledger import Cursor
from .engine import Watchers, recursion_error
from .plan import END_NODE, MODEL, TOOLS

HOME = {
    "before_agent": MODEL,
    "before_model": MODEL,
    "model": MODEL,
    "after_model": MODEL,
    "before_tools": TOOLS,
    "tools": TOOLS,
    "after_tools": TOOLS,
    "on_exit": END_NODE,
    "after_agent": END_NODE,
}
"""The node each phase lives in, where that exists."""

ON_ERROR: Final = "on_error"
"""The phase that lives wherever the run failed."""

ENTRY = {MODEL: "before_model", TOOLS: "before_tools", END_NODE: "after_agent"}
"""The phase a node begins with when nothing else is known."""


@dataclass(frozen=True)
class Go:
    """Go on with a phase."""

    phase: str
    index: int = 0
    anew: bool = False
    """A new superstep begins even if the phase lives in the node we are in."""


@dataclass(frozen=True)
class FanOut:
    """Run calls as tasks of their own, so that finished ones are stored."""

    calls: Sequence[ToolCall]


@dataclass(frozen=True)
class Pause:
    """Store what happened and begin the next superstep at the cursor."""

    cursor: Cursor
    failures: Sequence[Failure] = ()
    """What has failed, for those who go on there."""


DONE = Go("done")

Move = Go | FanOut | Pause


class Boundary:
    """Tells where a node must end, and counts the supersteps that nobody sees."""

    def __init__(self, node: str, nodes: Sequence[str], watchers: Watchers) -> None:
        self._node = node
        self._nodes = nodes
        self._watchers = watchers
        self._where = node
        self._hops = 1
        self._limit = float(watchers.recursion_limit)

    def lift(self) -> None:
        """Let a run end that has had as many supersteps as it may."""
        self._limit = float("inf")

    def lies_before(self, go: Go, *, fans_out: bool) -> bool:
        """Whether the next phase belongs to another superstep.

        Args:
            go: The next phase.
            fans_out: The pending calls will run as several tasks, which any node may begin.

        Raises:
            GraphRecursionError: The run has had as many supersteps as it may.
        """
        home = HOME.get(go.phase, self._where)
        if home not in self._nodes:
            home = self._where
        if self._watchers.unwatched:
            if go.anew or home != self._where:
                self._where = home
                self._hops += 1
                if self._hops > self._limit:
                    raise recursion_error(self._watchers.recursion_limit)
            return False
        if go.anew:
            return True
        if home == self._node or go.phase == "after_tools":
            return False
        return not (home == TOOLS and self._node == MODEL and fans_out)
