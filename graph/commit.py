"""What a node hands to langgraph when it ends: its updates, and where to go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import ToolCall
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, Send

from ..state.errors import UnstorableValueError
from ..state.ledger import Cursor, Ledger
from ..state.storage import check_storable
from ..state.working import SavedState, WorkingState
from .engine import write_keys
from .hand_over import HAND_OVER, as_shown, commands
from .phases import HOME, Pause
from .plan import TOOLS, AgentPlan


class Commit:
    """Makes the commands at the end of a node; updates of several hooks become one write."""

    def __init__(
        self,
        plan: AgentPlan,
        node: str,
        work: WorkingState,
        ledger: Ledger,
        config: RunnableConfig,
        *,
        durable: bool,
    ) -> None:
        self._plan = plan
        self._node = node
        self._work = work
        self._ledger = ledger
        self._config = config
        self._durable = durable
        self.contributions: dict[str, list[str]] = {}
        """Keys that hooks and layers updated, by each; shown to those who stream updates."""

    def pause(self, pause: Pause) -> list[Command[Any]]:
        """Go on at the cursor, in the node where its phase lives."""
        if pause.failures:
            self._work.put("run_failure", pause.failures)
        home = HOME.get(pause.cursor.phase)
        return self.go(pause.cursor, home if home in self._plan.nodes else self._node)

    def fan_out(self, calls: Sequence[ToolCall]) -> list[Command[Any]]:
        """Run each call as a task; the superstep after them takes up the tools phase."""
        return self.go(Cursor("tools"), [Send(TOOLS, {"tool_call": call}) for call in calls])

    def finish(self, *, at_once: bool) -> list[Command[Any]]:
        """End the run: its counters and its last message become part of the result.

        A command for the graph around is given in the next superstep, as langgraph drops what
        comes with it; or at once, where nobody could see it.
        """
        for key, value in self._ledger.outputs().items():
            self._work.put(key, value)
        if messages := self._work.messages:
            self._work.put("last_message", messages[-1])
        if not self._ledger.for_parent:
            return self._commands(())
        return self.hand_over() if at_once else self.go(Cursor(HAND_OVER), self._node)

    def hand_over(self) -> list[Command[Any]]:
        """Leave for another node of the graph around."""
        returned = self._plan.schema.output.__annotations__
        results = {k: v for k, v in self._work.values.items() if k in returned}
        return commands(self._ledger.for_parent, as_shown(self._config, results))

    def go(self, cursor: Cursor, goto: Any) -> list[Command[Any]]:
        """Go to a node and on from the cursor there."""
        self._ledger.cursor = cursor
        self._work.put("run_ledger", self._ledger.dump())
        return self._commands(goto)

    def take_back(self, key: str | None, given: Mapping[str, Any]) -> None:
        """Undo a failed attempt to end the node, with the key that could not be stored.

        Args:
            key: The key, if one was refused.
            given: The state that the node was given: the key gets its value back.
        """
        saved = self._work.save()
        values, writes = dict(saved.values), dict(saved.writes)
        for name in ("run_failure", *(() if key is None else (key,))):
            values.pop(name, None)
            writes.pop(name, None)
            if name in given:
                values[name] = given[name]
        self._work.restore(SavedState(values, writes))
        self._ledger.cursor = self._ledger.failing = None

    def _commands(self, goto: Any) -> list[Command[Any]]:
        if self.contributions:
            self._work.put("updated_by", self.contributions)
        saved = self._work.save() if self._durable else None
        updates = self._work.take_writes() or [{}]
        if saved is not None:
            self._check(updates, saved)
        if private := self._plan.schema.private:
            taken = [(k, u.pop(k)) for u in updates for k in private & u.keys()]
            write_keys(self._config, taken)
        last = len(updates) - 1
        return [
            Command(update=update, goto=goto if n == last else ())
            for n, update in enumerate(updates)
        ]

    def _check(self, updates: Sequence[dict[str, Any]], saved: SavedState) -> None:
        """Refuse what cannot be stored; the working state then stays as it was."""
        try:
            for update in updates:
                stored = {k: v for k, v in update.items() if k != "run_failure"}
                check_storable(stored, self._plan.storable)
        except UnstorableValueError:
            self._work.restore(saved)
            raise
