"""The compiled graph of an agent: langgraph's, with its input checked before anything runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from ..middleware.approval.pending import PendingApproval
from ..state.errors import InvalidInputError
from ..state.input import InputCheck
from ..state.storage import strict_checkpointer
from ..tools.calls import AWAITING, BLOCKING, Calls, Dual, run_inline
from .admission import SET_ASIDE, Admission, check_goto
from .approvals import aanswer, addressed, answer, apending, pending
from .composition.nesting import nested_run
from .drawing import draw, draw_svg
from .engine import (
    AROUND,
    STREAMED,
    UNWATCHED,
    is_nested,
    is_streamed,
    names_thread,
    nodes_around,
    under_own_name,
    within,
)
from .short_entry import entering_at_once, may_enter_at_once
from .thread_edit import Supersteps, with_way


class CheckedInput(dict[str, Any]):
    """An input that has been checked."""


class AdmittedInput(CheckedInput):
    """An input that has been checked and filtered."""


class AgentGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled agent: invoke it, stream it, use it as a node, serve it with ``langgraph.json``."""

    input_check: InputCheck
    storable: frozenset[type]
    """Types beside messages and plain data that its threads hold."""
    admission: Admission
    """What middleware takes out of an input before it is stored, streamed or traced."""

    @classmethod
    def of(
        cls,
        compiled: CompiledStateGraph[Any, Any, Any, Any],
        check: InputCheck,
        storable: frozenset[type] = frozenset(),
        admission: Admission | None = None,
    ) -> AgentGraph:
        """``compiled`` with its inputs checked."""
        # StateGraph.compile makes a fixed class; this one adds behaviour but no other fields.
        graph = object.__new__(cls)
        vars(graph).update(vars(compiled))
        graph.input_check = check
        graph.storable = storable
        graph.admission = admission or Admission((), frozenset())
        return graph

    def with_checkpointer(self, checkpointer: BaseCheckpointSaver[Any]) -> AgentGraph:
        """The agent with its threads in ``checkpointer``, read as strictly as its own would be."""
        strict = strict_checkpointer(checkpointer, self.storable)
        return self.copy(update={"checkpointer": strict})

    def draw(self, *, hooks: bool = False) -> str:
        """The graph as Mermaid text, with every hook if asked; see :func:`interlock.graph.draw`."""
        return draw(self, hooks=hooks)

    def draw_svg(self, *, hooks: bool = False) -> str:
        """The graph as an SVG image; see :func:`interlock.graph.draw_svg`."""
        return draw_svg(self, hooks=hooks)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """What a notebook shows; langgraph's own way asks a server on the internet for it."""
        return {"text/plain": repr(self), "image/svg+xml": draw_svg(self)}

    def copy(self, update: dict[str, Any] | None = None) -> AgentGraph:
        """A graph with some fields replaced, as ``with_config`` needs it."""
        graph = object.__new__(type(self))
        vars(graph).update(vars(self), **(update or {}))
        return graph

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run the agent and return its output keys.

        Args:
            input: A dict with ``messages`` and other input keys, such as the result of an earlier
                run; a ``Command`` that resumes a paused thread, or None to go on after a failure.
            config: ``thread_id``, ``recursion_limit``, callbacks and so on.
            **options: As of ``langgraph``'s ``invoke``: ``context``, ``durability`` and so on.

        Raises:
            InvalidInputError: The input cannot be accepted; nothing has run.
        """
        graph, *given = run_inline(self._begun(BLOCKING, input, config, options))
        return super(AgentGraph, graph).invoke(*given, **options)

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> Any:
        """:meth:`invoke` on an event loop."""
        graph, *given = await self._begun(AWAITING, input, config, options)
        result: Any = await super(AgentGraph, graph).ainvoke(*given, **options)  # pyright: ignore[reportUnknownVariableType]
        return result  # pyright: ignore[reportUnknownVariableType]

    def pending(self, config: RunnableConfig) -> list[PendingApproval]:
        """Everything that waits for an answer in a thread; see :func:`interlock.graph.pending`."""
        return pending(self, config)

    async def apending(self, config: RunnableConfig) -> list[PendingApproval]:
        """:meth:`pending` on an event loop."""
        return await apending(self, config)

    def answer(self, decisions: Mapping[str, Any], config: RunnableConfig, **options: Any) -> Any:
        """Answer what waits, by its ids, and go on; see :func:`interlock.graph.answer`."""
        return answer(self, decisions, config, **options)

    async def aanswer(
        self, decisions: Mapping[str, Any], config: RunnableConfig, **options: Any
    ) -> Any:
        """:meth:`answer` on an event loop."""
        return await aanswer(self, decisions, config, **options)

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> Iterator[Any]:
        """Run the agent and yield chunks of the chosen ``stream_mode`` as they come."""
        given = run_inline(self._addressed(BLOCKING, input, self._streamed(input, config)))
        return super().stream(*given, **options)

    def astream(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        **options: Any,
    ) -> AsyncIterator[Any]:
        """:meth:`stream` on an event loop."""
        watched = self._streamed(input, config)
        value = self._checked(input, config)
        if isinstance(input, Command) or (self.admission and not isinstance(value, AdmittedInput)):
            return self._stream_admitted(value, watched, options)
        return super().astream(value, watched, **options)

    async def _stream_admitted(
        self, value: Any, config: RunnableConfig, options: Mapping[str, Any]
    ) -> AsyncIterator[Any]:
        """Stream a run whose input has to be looked at first, which may take its time."""
        value, config = await self._addressed(AWAITING, value, config)
        async for chunk in super().astream(value, config, **options):
            yield chunk

    def bulk_update_state(self, config: RunnableConfig, supersteps: Supersteps) -> RunnableConfig:
        """Edit a thread, as ``update_state`` does; what was to run next still is."""
        return run_inline(self._edited(BLOCKING, config, supersteps))

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Supersteps
    ) -> RunnableConfig:
        """:meth:`bulk_update_state` on an event loop."""
        return await self._edited(AWAITING, config, supersteps)

    async def _edited(
        self, calls: Calls, config: RunnableConfig, supersteps: Supersteps
    ) -> RunnableConfig:
        updates = await with_way(calls, self, config, supersteps)
        edit = Dual("update_state", super().bulk_update_state, super().abulk_update_state)
        return cast("RunnableConfig", await calls.call(edit, config, updates))

    def astream_events(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> Any:
        """The events of a run, as of ``langgraph``'s ``astream_events``."""
        if options.get("version") == "v3":
            events: Any = super().astream_events(input, config, **options)  # pyright: ignore[reportUnknownVariableType]
            return cast("Any", events)
        watched = self._streamed(input, config)
        return self._events_admitted(self._checked(input, config), watched, options)

    async def _events_admitted(
        self, value: Any, config: RunnableConfig, options: Mapping[str, Any]
    ) -> AsyncIterator[Any]:
        # The first event shows the input as it is given here.
        value, config = await self._admitted(AWAITING, value, config)
        events: Any = super().astream_events(value, config, **options)  # pyright: ignore[reportUnknownVariableType]
        async for event in cast("AsyncIterator[Any]", events):
            yield event

    async def _addressed(
        self, calls: Calls, value: Any, config: RunnableConfig
    ) -> tuple[Any, RunnableConfig]:
        """The input as it may be seen; an answer with the pause that it is for."""
        value, config = await self._admitted(calls, value, config)
        if isinstance(value, Command):
            value = await addressed(calls, self, cast("Command[Any]", value), config)
        return value, config

    async def _begun(
        self,
        calls: Calls,
        value: Any,
        config: RunnableConfig | None,
        options: Mapping[str, Any],
    ) -> tuple[AgentGraph, Any, RunnableConfig]:
        """The graph, the input and the config of a run, which may be a part of another graph's."""
        marked = self._marked(within(under_own_name(self, config)), options)
        if is_nested(marked):
            remembers = self.checkpointer is True
            marked = await nested_run(calls, marked, self.storable, remembers=remembers)
        value, marked = await self._admitted(calls, value, marked)
        if not isinstance(value, CheckedInput) or not may_enter_at_once(self, marked):
            return self, value, marked
        changes, entry = entering_at_once(self, value)
        return self.copy(changes), type(value)(entry), marked

    async def _admitted(
        self, calls: Calls, value: Any, config: RunnableConfig
    ) -> tuple[Any, RunnableConfig]:
        """The input, checked and filtered, and the config of its run."""
        given = self._checked(value, config)
        if not self.admission or isinstance(given, AdmittedInput) or given is None:
            return given, config
        if isinstance(given, Command):
            return await self.admission.command(calls, cast("Command[Any]", given)), config
        messages, aside = await self.admission(calls, given["messages"])
        return AdmittedInput({**given, "messages": messages}), _with(config, SET_ASIDE, aside)

    def _streamed(self, value: Any, config: RunnableConfig | None) -> RunnableConfig:
        """The config; a run that did not begin with ``invoke`` shows its chunks."""
        if isinstance(value, CheckedInput):
            return config or {}
        self._check_thread(config)
        return _set(under_own_name(self, config), STREAMED)

    def _checked(self, value: Any, config: RunnableConfig | None) -> Any:
        if isinstance(value, Command):
            check_goto(cast("Command[Any]", value), self.nodes)
            return cast("Any", value)
        if value is None or isinstance(value, CheckedInput):
            return value
        if is_nested(config):
            # A node is given the whole state of the larger graph.
            value = self.input_check.own_keys(value)
        return CheckedInput(self.input_check(value))

    def _marked(self, config: RunnableConfig | None, options: Mapping[str, Any]) -> RunnableConfig:
        """The config, saying whether anybody can see the supersteps of this run."""
        self._check_thread(config)
        unwatched = (
            not (options.keys() - {"context"})
            and not self.checkpointer
            and not self.interrupt_before_nodes
            and not self.interrupt_after_nodes
            and not self.debug
            and not is_streamed(config)
        )
        # In any case: the config of a runnable around the run may hold that of another one.
        return _set(_with(config, AROUND, nodes_around(config)), unwatched)

    def _check_thread(self, config: RunnableConfig | None) -> None:
        if isinstance(self.checkpointer, BaseCheckpointSaver) and not names_thread(self, config):
            msg = (
                "The agent has a checkpointer, so each run belongs to a thread; name it with "
                "config={'configurable': {'thread_id': ...}}, or with thread_id=... of Agent.run."
            )
            raise InvalidInputError(msg, key="thread_id")


def _set(config: RunnableConfig | None, unwatched: bool | str) -> RunnableConfig:
    return _with(config, UNWATCHED, unwatched)


def _with(config: RunnableConfig | None, key: str, value: Any) -> RunnableConfig:
    """The config with one more thing for the engine to know."""
    config = cast("RunnableConfig", dict(config or {}))
    config["configurable"] = {**config.get("configurable", {}), key: value}
    return config
