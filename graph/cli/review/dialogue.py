"""Answering in the terminal: a thread, what was said in it, and a key for each decision."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import anyio
from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ....middleware.approval.decision import DecisionType
from ....middleware.approval.pending import PendingApproval
from ....middleware.approval.ui import NEWLINE, read_argument, visible
from ....state.approval_errors import NotWaitingError
from ....state.errors import InvalidInputError
from ...approvals import WaitingThread
from .desk import Desk, together
from .fields import FormField, answer_field, edit_forms
from .sheet import description_of, message_of, shown_text
from .table import show_table

_KEYS: Mapping[str, DecisionType] = {"a": "approve", "e": "edit", "r": "reject", "w": "respond"}
_WORDS: Mapping[DecisionType, str] = {
    "approve": "approve",
    "edit": "edit",
    "reject": "reject",
    "respond": "write its answer",
}
_ROLES = {"human": "User", "ai": "Agent", "tool": "Result", "system": "System"}
_TYPED_AS_TEXT = ("text", "choice")
_LAST_MESSAGES = 6
_LONGEST_TEXT = 1_000


class Skip(Exception):  # noqa: N818 - a signal
    """The person leaves this for later."""


class Dialogue:
    """A reviewer at the terminal."""

    def __init__(self, desk: Desk, console: Console) -> None:
        self._desk = desk
        self._console = console

    def hold(self) -> None:
        """Show what waits and take answers, until nothing waits or the person has enough."""
        try:
            while threads := self._desk.waiting():
                show_table(self._console, threads, self._desk.database.name)
                numbers = [str(n) for n in range(1, len(threads) + 1)]
                choice = self._choice("Number of a thread, or q to quit", [*numbers, "q"])
                if choice == "q":
                    return
                self.go_through(threads[int(choice) - 1].thread_id)
        except EOFError:  # Ctrl-D
            return
        show_table(self._console, [], self._desk.database.name)

    def go_through(self, thread_id: str) -> None:
        """Have the person decide about what waits in a thread."""
        opened = self._desk.open(thread_id)
        self._say_end([message_of(m) for m in opened.conversation.messages[-_LAST_MESSAGES:]])
        if opened.waiting is not None and opened.waiting.problem is not None:
            self._say(opened.waiting.problem, "red")
        skipped: set[str] = set()
        while group := _next_group(self._desk.database.waiting(thread_id), skipped):
            # What is left may wait in another pause once something was answered, so look anew.
            try:
                if not self._settle(thread_id, group):
                    return
            except Skip:
                skipped |= {p.id for p in group}

    def _settle(self, thread_id: str, group: Sequence[PendingApproval]) -> bool:
        """Decide about calls that are answered together; gives whether the thread still waits.

        A decision that is refused is asked again.
        """
        while True:
            answers = {p.full_id: self._decide(p) for p in group}
            try:
                outcome = anyio.run(partial(self._desk.answer, thread_id, answers))
            except NotWaitingError as error:
                self._say(str(error), "red")
                return False
            except InvalidInputError as error:
                self._say(str(error), "red")
                continue
            if outcome.failure is not None:
                self._say(outcome.failure, "red")
                return False
            end = "The thread waits for more." if outcome.waits else "The run came to its end."
            self._say(f"Done. {end}", "green")
            return outcome.waits

    def _decide(self, waiting: PendingApproval) -> Any:
        self._show(waiting)
        if waiting.kind == "question":
            return next(iter(self._entered(answer_field(waiting.schema), {}).values()), "")
        keys: dict[str, DecisionType] = {
            key: kind for key, kind in _KEYS.items() if kind in waiting.allowed
        }
        told = ", ".join(f"{key} {_WORDS[kind]}" for key, kind in keys.items())
        choice = self._choice(f"{told}, s skip", [*keys, "s"])
        if choice == "s":
            raise Skip
        decision: dict[str, Any] = {"type": keys[choice]}
        if choice == "e":
            decision["edited_action"] = {"name": waiting.tool, "args": self._edited(waiting)}
        elif choice != "a":
            label = "Its answer" if choice == "w" else "Message to the model, if any"
            if said := self._typed(label):
                decision["message"] = said
        return decision

    def _edited(self, waiting: PendingApproval) -> dict[str, Any]:
        """All arguments, each as the person leaves it."""
        fields = edit_forms(waiting.schema, waiting.tool, waiting.args).get(waiting.tool or "")
        known = fields or [FormField(name, "json") for name in waiting.args]
        self._say("An empty line keeps what is there.", "dim")
        entered = [self._entered(field, waiting.args) for field in known]
        return {name: value for pair in entered for name, value in pair.items()}

    def _entered(self, field: FormField, args: Mapping[str, Any]) -> dict[str, Any]:
        """One argument as the person leaves it; nothing if it is still not given."""
        given = {field.name: args[field.name]} if field.name in args else {}
        now = f" (now {shown_text(given[field.name])})" if given else ""
        current = args.get(field.name, "" if field.kind in _TYPED_AS_TEXT else None)
        while typed := self._typed(f"{field.name}{now}"):
            try:
                return {field.name: read_argument(typed, current)}
            except ValueError as error:
                self._say(f"This is no valid JSON value: {error}", "red")
        return given

    def _say_end(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Show the last messages, what each says in a column of its own."""
        table = Table.grid(padding=(0, 2))
        for message in messages:
            lines = [visible(message["text"], NEWLINE)[:_LONGEST_TEXT]] if message["text"] else []
            lines += [f"{visible(c['name'])}({visible(c['gist'])})" for c in message["calls"]]
            role = str(_ROLES.get(message["role"], message["role"]))
            table.add_row(Text(role, "dim"), Text("\n".join(lines)))
        self._console.print("", table, sep="\n")

    def _show(self, waiting: PendingApproval) -> None:
        table = Table.grid(padding=(0, 2))
        for name, value in waiting.args.items():
            table.add_row(Text(visible(name), "cyan"), Text(visible(shown_text(value), NEWLINE)))
        parts: list[Any] = [table] if waiting.args else []
        if waiting.kind == "question":
            parts.append(Text(visible(shown_text(waiting.value), NEWLINE)))
        if description := description_of(waiting):
            parts.insert(0, Text(f"{visible(description, NEWLINE)}\n", "dim"))
        title = Text(visible(waiting.tool or "Question"), "bold yellow")
        panel = Panel(Group(*parts), title=title, title_align="left", padding=(1, 2))
        self._console.print("", panel, sep="\n")

    def _choice(self, label: str, choices: Sequence[str]) -> str:
        while (typed := self._typed(label).lower()) not in choices:
            self._say(f"Type one of {', '.join(choices)}.", "red")
        return typed

    def _typed(self, label: str) -> str:
        return self._console.input(Text(f"{visible(label)}: ", "bold")).strip()

    def _say(self, text: str, style: str) -> None:
        self._console.print(Text(visible(text, NEWLINE), style))


def _next_group(
    threads: Iterable[WaitingThread], skipped: Collection[str]
) -> list[PendingApproval]:
    """What is to be decided next: mostly one thing, else all that is answered together."""
    approvals = [p for thread in threads for p in thread.approvals]
    first = next((p for p in approvals if p.id not in skipped), None)
    if first is None or not together(approvals, first):
        return [] if first is None else [first]
    return [p for p in approvals if p.interrupt_id == first.interrupt_id]
