"""Storing what a hook or layer has found out before it pauses the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.errors import GraphInterrupt


class StoreFirstError(GraphInterrupt):
    """Raised by a hook or a layer around a tool call: store an update, then call it once more.

    The agent stores the update with all that happened before in the step, and begins the next
    superstep with the same hook or tool call. So a question of ``interrupt`` that rests on
    something that cannot be found out twice is asked from the state, the same on every resume.

    A layer that lets one pass from further in may add to its ``update``.
    """

    def __init__(self, update: Mapping[str, Any]) -> None:
        super().__init__()
        self.update = dict(update)
        """New values by state key, as a hook returns them."""
