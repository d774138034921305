"""Where the steps of a run begin: pure bookkeeping over the points that a run passes.

A step is one model call and the tool calls it asked for, with the hooks around both. Nodes are no
steps: one execution of a node may end one and begin the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Place = Literal["run", "step", "new step"]

_OUTSIDE = frozenset({"before_agent", "on_exit", "after_agent", "on_error"})
_CALL = "wrap_model_call"


@dataclass
class Steps:
    """The steps of one run."""

    completed: int | None = 0
    """Steps that were complete before the next one; None where a resumed run does not say."""
    open: bool = False
    asked: bool = False
    """The model has been asked in the open step."""

    def place(self, point: str) -> Place:
        """Where something belongs that begins at a point of the run.

        Args:
            point: A hook point; ``wrap_model_call`` also for the model itself, where no layer is
                around it.
        """
        if point in _OUTSIDE:
            return "run"
        fresh = not self.open or (self.asked and point in ("before_model", _CALL))
        if fresh:
            if self.open and self.completed is not None:
                self.completed += 1
            # What begins with anything else goes on where a pause left it: the model had replied.
            self.open, self.asked = True, point != "before_model"
        self.asked = self.asked or point == _CALL
        return "new step" if fresh else "step"

    def end(self) -> None:
        """The open step is over, if there is one."""
        if self.open and self.completed is not None:
            self.completed += 1
        self.open = self.asked = False
