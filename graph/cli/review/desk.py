"""What a reviewer can look at and do, whatever they see it through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig

from ....middleware.approval.pending import PendingApproval
from ....state.errors import ConfigurationError, InvalidInputError
from ...approvals import Conversation, ThreadDatabase, WaitingThread, read_conversation
from ...compiled import AgentGraph

NO_AGENT = (
    "Answers go to the agent, which checks them and goes on; start this with --agent "
    "package.module:agent."
)


@dataclass(frozen=True)
class Outcome:
    """What came of an answer that was accepted."""

    waits: bool
    """The thread waits again, for the rest or for something new."""
    failure: str | None = None
    """What went wrong in the run after the answer, and what is to be done; None if nothing did."""


@dataclass(frozen=True)
class Opened:
    """A thread as a reviewer sees it."""

    waiting: WaitingThread | None
    """None if nothing waits there any more."""
    conversation: Conversation


@dataclass
class Desk:
    """The threads of a database and, if it is known, the agent that they belong to."""

    database: ThreadDatabase
    agent: AgentGraph | None = None
    in_hand: set[str] = field(default_factory=set[str])
    """Full ids of what is being answered here just now."""

    def waiting(self) -> list[WaitingThread]:
        """Every thread that waits, the one that waits longest first.

        Raises:
            StorageError: The database cannot be read.
        """
        return list(self.database.waiting())

    def open(self, thread_id: str) -> Opened:
        """One thread with its conversation.

        Raises:
            StorageError: The database cannot be read.
        """
        waiting = next(self.database.waiting(thread_id), None)
        return Opened(waiting, read_conversation(self.database, thread_id))

    async def answer(self, thread_id: str, decisions: Mapping[str, Any]) -> Outcome:
        """Give answers by full id, and let the run go on until it ends or waits again.

        Args:
            thread_id: The thread.
            decisions: Answers by the :attr:`~PendingApproval.full_id` of what they are for.

        Raises:
            ConfigurationError: The agent is not known.
            NotWaitingError: An id does not wait in this thread, or is answered just now.
            InvalidDecisionError: An answer does not fit. Nothing was stored.
            StorageError: The database cannot be used.
        """
        if self.agent is None:
            raise ConfigurationError(NO_AGENT)
        config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
        taken = set(decisions) - self.in_hand
        self.in_hand |= taken
        try:
            async with self.database.answering(thread_id), self.database.saver() as saver:
                agent = self.agent.with_checkpointer(saver)
                try:
                    await agent.aanswer(decisions, config)
                except InvalidInputError:
                    raise
                except Exception as error:  # noqa: BLE001 - boundary: the run is the user's
                    left = {p.full_id for p in await agent.apending(config)}
                    return Outcome(bool(left), _told(error, again=bool(left & set(decisions))))
                return Outcome(bool(await agent.apending(config)))
        finally:
            self.in_hand -= taken


def together(approvals: Sequence[PendingApproval], chosen: PendingApproval) -> bool:
    """Whether a decision has to come with those about all calls of its pause."""
    return not chosen.named and sum(p.interrupt_id == chosen.interrupt_id for p in approvals) > 1


def _told(error: Exception, *, again: bool) -> str:
    kept = "What was answered stays answered: the program goes on by invoking the thread with None."
    rest = "It still waits for an answer." if again else kept
    return f"The run failed with {type(error).__name__}: {error}. {rest}"
