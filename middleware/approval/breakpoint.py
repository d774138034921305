"""Stopping a run before a tool call, for programs that have no checkpointer.

The run ends with an exception and leaves a snapshot; who read it and decided goes on from the
file, in another process if need be.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from langchain_core.tools import BaseTool

from ...state.approval_errors import HITLBreakpointException
from ...state.errors import ConfigurationError
from ...state.history import pending_calls
from .policy import AlwaysAskPolicy, ConfirmationPolicy
from .question import Question
from .serialization import to_plain
from .snapshot import AgentSnapshot


class BreakpointConfirmationStrategy:
    """Stops the run at each call that a person must decide about.

    Source: the strategy of the same name in Haystack's experimental package, 0.17. Unlike there,
    the exception names the file and not its folder, one file holds every call that waits, and a
    policy may let calls through.
    """

    def __init__(
        self,
        snapshot_file_path: str | os.PathLike[str],
        confirmation_policy: ConfirmationPolicy | None = None,
    ) -> None:
        """Leave snapshots in the folder ``snapshot_file_path``; by default stop at every call."""
        path = os.fspath(snapshot_file_path)
        if not path or "\0" in path:
            msg = f"snapshot_file_path is {path!r}; give the folder for the snapshots."
            raise ConfigurationError(msg)
        self.snapshot_file_path = path
        self.confirmation_policy: ConfirmationPolicy = confirmation_policy or AlwaysAskPolicy()

    def run(self, *, tool_name: str, tool_call_id: str | None = None, **_inquiry: Any) -> NoReturn:
        """Stop, without a snapshot: outside an agent there is no run to store.

        Raises:
            HITLBreakpointException: Always.
        """
        raise _stop(tool_name, tool_call_id, self.snapshot_file_path)

    async def run_async(self, **inquiry: Any) -> NoReturn:
        """:meth:`run`."""
        self.run(**inquiry)

    def stop(
        self,
        questions: Sequence[Question],
        state: Mapping[str, Any],
        answer_key: str,
        tools: Mapping[str, BaseTool],
    ) -> NoReturn:
        """Write a snapshot and stop.

        Args:
            questions: The calls that wait, in call order; the first one is named.
            state: The state with everything that was decided in this step already.
            answer_key: The state key where the resumed run looks for decisions.
            tools: The agent's tools by name.

        Raises:
            HITLBreakpointException: With the path of the file.
            StorageError: It could not be written.
        """
        first = questions[0]
        called = {c["name"] for c in pending_calls(state["messages"])}
        snapshot = AgentSnapshot.of(
            state,
            point="before_tools",
            tool_name=first.call["name"],
            waiting=[q.id for q in questions],
            descriptions={n: t.description for n, t in tools.items() if n in called},
            answer_key=answer_key,
        )
        path = str(snapshot.save(self.snapshot_file_path))
        raise _stop(first.call["name"], first.id, path)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return to_plain(
            self,
            snapshot_file_path=self.snapshot_file_path,
            confirmation_policy=to_plain(self.confirmation_policy),
        )


def _stop(tool_name: str, call_id: str | None, path: str) -> HITLBreakpointException:
    msg = (
        f"The run stopped before {tool_name!r}: a person must decide about call {call_id!r}. "
        f"Read the snapshot in {path!r}, and resume from it with the decisions."
    )
    return HITLBreakpointException(msg, tool_name, path, call_id)
