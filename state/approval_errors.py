"""What can go wrong while a person is asked, beside the errors in ``errors.py``."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.errors import GraphBubbleUp

from .errors import InvalidInputError, RunError


class InvalidDecisionError(InvalidInputError):
    """A decision about a tool call may not be made; nothing was stored, the call still waits."""

    def __init__(
        self,
        message: str,
        *,
        call_id: str | None = None,
        tool_name: str | None = None,
        allowed: Sequence[str] = (),
    ) -> None:
        super().__init__(message, key="resume")
        self.call_id = call_id
        """Id of the call."""
        self.tool_name = tool_name
        """Name of the tool that is to be called."""
        self.allowed = tuple(allowed)
        """What may be decided."""


class NotWaitingError(InvalidInputError):
    """An answer names something that does not wait for one; nothing was stored or run."""

    def __init__(
        self, message: str, *, asked: Sequence[str] = (), waiting: Sequence[str] = ()
    ) -> None:
        super().__init__(message, key="resume")
        self.asked = tuple(asked)
        """Ids in the answer that nothing waits under."""
        self.waiting = tuple(waiting)
        """Ids that do wait."""


class CannotPauseError(RunError):
    """An approval is due, and without a checkpointer the pause could never be resumed."""


class HITLBreakpointException(RunError, GraphBubbleUp):  # noqa: N818 - the name users know
    """The run stopped before a tool call, for somebody to decide about it elsewhere.

    It passes through error policies and ``on_error`` hooks, as an interrupt does.

    Source: the exception of the same name in Haystack's experimental package, 0.17.
    """

    def __init__(
        self,
        message: str,
        tool_name: str | None,
        snapshot_file_path: str,
        tool_call_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        """What happened, and what to do."""
        self.tool_name = tool_name
        """Name of the tool that was to run; None at a breakpoint before the model."""
        self.snapshot_file_path = snapshot_file_path
        """The file with everything that is needed to go on."""
        self.tool_call_id = tool_call_id
        """Id of the call that waits for a decision."""
