"""What waits, in the terminal or for the next program of a pipe."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ....middleware.approval.ui import visible
from ...approvals import WaitingThread

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def show_lines(out: TextIO, threads: Sequence[WaitingThread]) -> None:
    """One line for each thing that waits: thread, since when, id, tool, arguments as JSON."""
    for thread in threads:
        since = thread.since.isoformat(timespec="seconds") if thread.since else ""
        if thread.problem is not None:
            out.write(f"{visible(thread.thread_id)}\t{since}\t\t\t{thread.problem}\n")
        for waiting in thread.approvals:
            args = json.dumps(dict(waiting.args), default=str, sort_keys=True)
            told = [thread.thread_id, waiting.full_id, waiting.tool or "question"]
            name, ident, tool = map(visible, told)
            out.write(f"{name}\t{since}\t{ident}\t{tool}\t{args}\n")


def show_table(console: Console, threads: Sequence[WaitingThread], name: str) -> None:
    """A table with a line for each thread, numbered from 1."""
    if not threads:
        console.print(Text(f"Nothing waits in {visible(name)}."))
        return
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("", "thread", "waits", "what"):
        table.add_column(column, overflow="fold")
    for number, thread in enumerate(threads, 1):
        times = Counter(visible(p.tool or "question") for p in thread.approvals)
        tools = ", ".join(f"{tool} ({n})" if n > 1 else tool for tool, n in times.items())
        what = Text(thread.problem, "red") if thread.problem else Text(tools)
        table.add_row(str(number), Text(visible(thread.thread_id)), age(thread.since), what)
    console.print("", table, "", sep="\n")


def age(since: datetime | None) -> str:
    """How long ago something was, like ``5 min``."""
    if since is None:
        return ""
    seconds = max(0, int((datetime.now(UTC) - since).total_seconds()))
    size, unit = next((pair for pair in _UNITS if seconds >= pair[0]), _UNITS[-1])
    return f"{seconds // size} {unit}"
