"""Agents inside a run as streams of their own: ``run.subagents`` of ``version="v3"``.

Like ``graph/engine.py`` this uses private names of langgraph 1.2.24; tests fail when one changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from langgraph.errors import GraphDrained, GraphInterrupt
from langgraph.stream import (
    AsyncSubgraphRunStream,
    StreamChannel,
    StreamTransformer,
    SubgraphRunStream,
    SubgraphStatus,
)

from ...tools.calls import AWAITING, BLOCKING, Calls, Dual, run_inline
from ...tools.running import TOOL_CALL
from ..engine import AGENT_NAME

Path = tuple[str, ...]
"""Where a run is: the segments of a namespace."""

Ending = tuple[SubgraphStatus, Any]
"""How a run ended, and its error."""


class _Named:
    """What a stream of an agent says beside that of a graph."""

    graph_name: str | None
    call_id: str | None = None
    """Id of the tool call that it answers."""

    @property
    def name(self) -> str | None:
        """Name of the agent."""
        return self.graph_name

    @property
    def cause(self) -> dict[str, str] | None:
        """``{"type": "toolCall", "tool_call_id": ...}``; None for an agent no tool called."""
        ident = self.call_id
        return None if ident is None else {"type": "toolCall", "tool_call_id": ident}


class SubagentRunStream(_Named, SubgraphRunStream):
    """An agent inside a run: its events, and views of them as of the run itself."""


class AsyncSubagentRunStream(_Named, AsyncSubgraphRunStream):
    """:class:`SubagentRunStream` on an event loop."""


Handle = SubagentRunStream | AsyncSubagentRunStream


@dataclass
class _Run:
    """A run below the one that is looked at."""

    path: Path
    task: str | None
    """Id of the task that began it."""
    parent: Path
    shown: _Run | None = None
    """The outermost agent that it is part of, itself included."""
    handle: Any = None
    """Its stream, where it is shown by this view itself."""
    mux: Any = None
    """What the events of the stream go through."""
    open: bool = False
    """It is shown, and not over."""
    ended: Ending | None = None
    """What its last task says, until the call that it belongs to is over."""


@dataclass
class _Place:
    """What happens in one run, this one or one below it."""

    tasks: dict[str, Path] = field(default_factory=dict[str, Path])
    """Per task id the path of what it runs."""
    calls: set[str] = field(default_factory=set[str])
    """Ids of the tool calls that are running."""


class SubagentTransformer(StreamTransformer):
    """Shows each named agent that a run begins, directly or by way of plain graphs.

    ``run.subagents`` holds handles in the order in which the agents began. A handle has ``name``,
    ``cause``, ``status``, ``error`` and the streams of a run, ``subagents`` among them, which
    holds the agents inside it. A run without a name of its own has that of the agent around it.
    Read a handle before the next one: what nobody listens to is not kept.
    """

    _native: ClassVar[bool] = True
    supports_sync: ClassVar[bool] = True
    required_stream_modes: ClassVar[tuple[str, ...]] = ("tasks", "tools")

    def __init__(self, scope: Path = ()) -> None:
        super().__init__(scope)
        self._log: StreamChannel[Handle] = StreamChannel()
        self._mux: Any = None
        self._runs: dict[Path, _Run] = {}
        self._places: dict[Path, _Place] = {scope: _Place()}

    def init(self) -> dict[str, Any]:
        """The view ``subagents``."""
        return {"subagents": self._log}

    def _on_register(self, mux: Any) -> None:
        self._mux = mux

    def process(self, event: Any) -> bool:
        """Pass an event on to the agent that it belongs to."""
        return run_inline(self._take(BLOCKING, event))

    async def aprocess(self, event: Any) -> bool:
        """:meth:`process` on an event loop."""
        return await self._take(AWAITING, event)

    def finalize(self) -> None:
        """End what is still open as completed."""
        run_inline(self._end_all(BLOCKING, ("completed", None)))

    async def afinalize(self) -> None:
        """:meth:`finalize` on an event loop."""
        await self._end_all(AWAITING, ("completed", None))

    def fail(self, err: BaseException) -> None:
        """End what is still open as the run ended."""
        run_inline(self._end_all(BLOCKING, _ending_of(err)))

    async def afail(self, err: BaseException) -> None:
        """:meth:`fail` on an event loop."""
        await self._end_all(AWAITING, _ending_of(err))

    async def _take(self, calls: Calls, event: Any) -> bool:
        path: Path = tuple(event["params"]["namespace"])
        data = event["params"]["data"]
        method = event["method"]
        over: list[tuple[_Run, Ending]] = []
        if method == "tasks":
            over = self._on_result(path, data) if "result" in data else self._on_start(path, data)
        elif method == "tools":
            over = self._on_call(path, data)
        run = self._runs.get(path)
        if run is not None and (shown := run.shown) is not None and shown.open:
            shown.handle._observe_event(event)  # noqa: SLF001
            await calls.call(Dual("a stream", shown.mux.push, shown.mux.apush), event)
        for ended, ending in over:
            await self._end(calls, ended, ending)
            self._forget(ended)
        return bool(method != "tasks")

    def _on_start(self, path: Path, data: dict[str, Any]) -> list[tuple[_Run, Ending]]:
        """A task begins; the first one of a run begins the run."""
        metadata: dict[str, Any] = data.get("metadata") or {}
        if path != self.scope:
            run = self._runs.get(path)
            if run is None:
                self._begin(path, metadata)
            else:
                run.ended = None
        place = self._places.setdefault(path, _Place())
        place.tasks[data["id"]] = (*path, f"{data['name']}:{data['id']}")
        return []

    def _begin(self, path: Path, metadata: dict[str, Any]) -> None:
        parent, task = self._origin(path)
        run = self._runs[path] = _Run(path, task, parent)
        around = self._runs.get(parent)
        run.shown = around.shown if around is not None else None
        name = metadata.get(AGENT_NAME)
        if run.shown is None and name is not None:
            run.shown = run
            self._show(run, name, self._call_of(parent, metadata))

    def _show(self, run: _Run, name: str, call_id: str | None) -> None:
        mux = run.mux = self._mux._make_child(run.path)  # noqa: SLF001
        kind = AsyncSubagentRunStream if mux.is_async else SubagentRunStream
        run.handle = kind(mux, path=run.path, graph_name=name, trigger_call_id=run.task)
        run.handle.call_id, run.open = call_id, True
        self._log.push(run.handle)

    def _origin(self, path: Path) -> tuple[Path, str | None]:
        """The run that a run was begun by, and the task of it.

        Behind the task's segment there may be others, as of the tool that an agent is.
        """
        begun = [
            (task_path, parent, task)
            for parent, place in self._places.items()
            for task, task_path in place.tasks.items()
        ]
        # One that is remembered leaves the tasks out of its path.
        for form in (_whole, _bare):
            known = form(path)
            fitting = [b for b in begun if form(b[0]) == known[: len(b[0])]]
            if fitting:
                _, parent, task = max(enumerate(fitting), key=lambda f: (len(f[1][0]), f[0]))[1]
                return parent, task
        return self.scope, None

    def _call_of(self, parent: Path, metadata: dict[str, Any]) -> str | None:
        running = self._places[parent].calls
        marked = metadata.get(TOOL_CALL)
        if marked in running:
            return cast("str", marked)
        # What was begun with another config than that of its call has no mark.
        return next(iter(running)) if len(running) == 1 else None

    def _on_call(self, path: Path, data: dict[str, Any]) -> list[tuple[_Run, Ending]]:
        """A tool call begins or is over, and with it the agents that it ran."""
        ident, kind = data.get("tool_call_id"), data.get("event")
        if ident is None or (path != self.scope and path not in self._runs):
            return []
        running = self._places[path].calls
        if kind == "tool-started":
            running.add(ident)
        if kind not in {"tool-finished", "tool-error"}:
            return []
        running.discard(ident)
        ending: Ending = ("completed", None)
        if kind == "tool-error":
            ending = ("failed", data.get("message"))
        return [(r, ending) for r in self._below(path) if r.handle.call_id == ident]

    def _on_result(self, path: Path, data: dict[str, Any]) -> list[tuple[_Run, Ending]]:
        """A task is over, and with it the runs that it began."""
        ending: Ending = ("completed", None)
        if data.get("interrupts"):
            ending = ("interrupted", None)
        elif data.get("error"):
            ending = ("failed", data["error"])
        run = self._runs.get(path)
        if run is not None and ending[0] != "completed":
            run.ended = ending
        if (place := self._places.get(path)) is not None:
            place.tasks.pop(data["id"], None)
        return [(r, ending) for r in self._below(path) if r.task == data["id"]]

    def _below(self, path: Path) -> Iterator[_Run]:
        """The agents shown that a run began and that are not over."""
        return (run for run in self._runs.values() if run.open and run.parent == path)

    async def _end(self, calls: Calls, run: _Run, ending: Ending) -> None:
        status, error = run.ended or ending
        run.open, handle = False, run.handle
        handle.status, handle._seen_terminal = status, True  # noqa: SLF001
        mux = run.mux
        if status != "failed":
            await calls.call(Dual("the end of a stream", mux.close, mux.aclose))
            return
        handle.error = str(error)
        raised = error if isinstance(error, BaseException) else RuntimeError(handle.error)
        await calls.call(Dual("the failure of a stream", mux.fail, mux.afail), raised)

    def _forget(self, shown: _Run) -> None:
        """Keep nothing of an agent that is over: a later one may have the same path."""
        for path in [path for path, run in self._runs.items() if run.shown is shown]:
            del self._runs[path]
            self._places.pop(path, None)

    async def _end_all(self, calls: Calls, ending: Ending) -> None:
        errors: list[Exception] = []
        for run in [run for run in self._runs.values() if run.open]:
            try:
                await self._end(calls, run, ending)
            except Exception as error:  # noqa: BLE001 - every stream has to end first
                errors.append(error)
        if errors:
            raise errors[0]


def _ending_of(error: BaseException) -> Ending:
    if isinstance(error, GraphDrained):
        return "drained", None
    return ("interrupted", None) if isinstance(error, GraphInterrupt) else ("failed", error)


def _whole(path: Path) -> Path:
    return path


def _bare(path: Path) -> Path:
    return tuple(segment.partition(":")[0] for segment in path)
