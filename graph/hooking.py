"""Running the hooks of a point over the working state."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, cast

from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.graph import END
from langgraph.types import Command

from ..middleware.collect import Hook, HookPoint
from ..middleware.hook_signature import hint_at_state
from ..middleware.tracing import traced
from ..state.errors import InvalidUpdateError
from ..state.live import LiveState, check_signal
from ..state.store_first import StoreFirstError
from .failing import Failing
from .routing import JumpRequest, resolve_jump
from .stretch import Stretch

logger = logging.getLogger(__name__)


class SplitHereError(GraphInterrupt):
    """Store what happened before a hook that pauses the run; never leaves the node."""


class HookRunner:
    """Calls hooks in their order and merges what each returns before the next one runs."""

    def __init__(self, stretch: Stretch) -> None:
        self._observed = stretch.watchers.observed
        self._streamed = stretch.watchers.streamed
        self._durable = stretch.watchers.durable
        self._plan = stretch.plan
        self._work = stretch.work
        self._ledger = stretch.ledger
        self._calls = stretch.calls
        self._config = stretch.config
        self._runtime = stretch.runtime
        self._tools = stretch.tools
        self.dirty = False
        """Something took effect in this node that must not be repeated."""
        self.contributions = stretch.contributions
        """Keys that hooks and layers of this node updated, by hook or layer."""
        self.completed: dict[str, int] = {}
        """Per phase, the position after the last hook that completed."""

    async def run(self, point: HookPoint, start: int) -> JumpRequest | None:
        """Run the hooks of a point from ``start`` on, up to one that asks for a jump.

        Raises:
            GraphInterrupt: A hook pauses the run, or is known to do so and must begin a node.
            InvalidUpdateError: A hook returned something that is no update.
        """
        hooks = self._plan.hooks.hooks[point]
        if not hooks:
            return None
        if point == "before_model":
            # Its hooks are to see the tools of the step that begins.
            self._tools.renew()
        self._work.show(self._ledger.outputs())
        done = start
        form_of = self._calls.at_hand
        try:
            while done < len(hooks):
                hook = hooks[done]
                if hook.interrupts and self.dirty and self._durable:
                    raise SplitHereError
                form, waits = form_of(hook.function)
                if form is None or self._observed or hook.live:
                    jump = await self._step(hook)
                else:
                    update = form(self._work.snapshot(), self._runtime, self._config)
                    if waits:
                        update = await update
                    jump = None if update is None else self._merged(hook, update)
                self.dirty = True
                done += 1
                if jump is not None:
                    return jump
        except StoreFirstError as pause:
            self.take(hooks[done], pause.update)
            self.dirty = True
            raise
        except AttributeError as error:
            hint_at_state(hooks[done].owner, error)
            raise
        finally:
            self.completed[point] = done
        return None

    async def _step(self, hook: Hook, *first: Any) -> JumpRequest | None:
        """Call a hook and merge what it did: all of it, or nothing if it fails or pauses."""
        if not hook.live:
            update = await self._call(hook, *first, self._work.snapshot())
            return None if update is None else self._merged(hook, update)
        saved, view = self._work.save(), self._view(hook)
        try:
            update = await self._call(hook, *first, view, told=view.report)
            return self.take(hook, update, view)
        except Exception:
            self._work.restore(saved)
            raise
        finally:
            view.close()

    def _merged(self, hook: Hook, update: Any) -> JumpRequest | None:
        """Take an update, all of it or nothing."""
        if isinstance(update, dict) and len(cast("dict[str, Any]", update)) == 1:
            return self.take(hook, update)
        saved = self._work.save()
        try:
            return self.take(hook, update)
        except Exception:
            self._work.restore(saved)
            raise

    def _view(self, hook: Hook) -> LiveState:
        """The live state for a hook, with what it may read besides the state."""
        context = self._runtime.context
        shown: dict[str, Callable[[], Any]] = {
            "tools": lambda: [*self._tools.executor.tools.by_name.values()],
            "hook_context": lambda: {} if context is None else context,
        }
        return LiveState(self._work, self._plan.schema.fields, hook.owner, shown)

    async def _call(
        self, hook: Hook, *values: Any, told: Callable[[Any], Any] | None = None
    ) -> Any:
        """Call a hook; while handlers listen, as a traced run with its name.

        Args:
            hook: The hook.
            *values: What it is given.
            told: What a trace shows of what it returned.
        """
        given = (*values, self._runtime, self._config)
        if not self._observed:
            return await self._calls.call(hook.function, *given)
        returned: list[Any] = []

        async def call() -> Any:
            returned.append(await self._calls.call(hook.function, *given))
            return returned[0] if told is None else told(returned[0])

        await traced(
            hook.owner,
            call,
            self._work.snapshot(),
            self._calls,
            self._config,
            hook.trace_policy,
            private=hook.private,
            streams_as=hook.owner,
        )
        return returned[0]

    async def run_on_error(self, failing: Failing) -> None:
        """Tell the hooks that are left of a failure; one that fails itself stops no other.

        Raises:
            GraphInterrupt: A hook pauses the run, or is known to do so and must begin a node.
        """
        error = failing.error
        self._work.show(self._ledger.outputs())
        hooks = self._plan.hooks.hooks["on_error"]
        while failing.index < len(hooks):
            hook = hooks[failing.index]
            if hook.interrupts and self._durable and not failing.stored_here:
                raise SplitHereError
            before = self._work.save()
            try:
                jump = await self._step(hook, error)
                if jump is not None:
                    resolve_jump(jump, self._work.messages)
                failing.took(jump, changed=self._work.changed_since(before))
            except StoreFirstError as pause:
                self.take(hook, pause.update)
                failing.stored_here = False
                raise
            except GraphBubbleUp:
                raise
            except Exception as second:
                # What failed first is what the run fails with.
                self._work.restore(before)
                told = f"{hook.owner} failed too: {type(second).__name__}: {second}"
                error.add_note(told)
                logger.warning(told, exc_info=second)
            failing.next_hook()

    def take(self, hook: Hook, update: Any, view: LiveState | None = None) -> JumpRequest | None:
        """Merge what a hook returned; the jump it asks for, if any.

        Args:
            hook: The hook.
            update: What it returned.
            view: The live state that it was given, in which it may have said where the run goes.
        """
        values, target = read_update(hook.owner, update)
        said = {} if view is None else view.signals
        stop = values.pop("stop_run", said.get("stop_run"))
        check_signal(hook.owner, "stop_run", stop)
        proceed = values.pop("continue_run", said.get("continue_run", False))
        target = said.get("jump_to") if target is None else target
        if values:
            self._work.apply(values, hook.owner)
        written = [*(() if view is None else view.written), *values]
        if written and self._streamed:
            self.contributions.setdefault(hook.owner, []).extend(written)
        if target is None and stop is not None:
            target = "end"
        elif target is None and proceed and hook.point == "on_exit":
            target = "model"
        if target is None:
            return None
        return JumpRequest(hook.owner, target, hook.can_jump_to, stop)


def read_update(owner: str, update: Any) -> tuple[dict[str, Any], Any]:
    """A hook's return value as new values by key, and the jump it asks for.

    Raises:
        InvalidUpdateError: It is neither None, a mapping nor a ``Command`` of this graph.
    """
    if update is None:
        return {}, None
    # A dict in the first place: the other check is dear.
    if isinstance(update, (dict, Mapping)):
        values = dict(cast("Mapping[str, Any]", update))
        return values, values.pop("jump_to", None)
    if isinstance(update, Command):
        command = cast("Command[Any]", update)
        if command.graph is not None or command.resume is not None:
            msg = f"{owner} returned a Command for another graph; a hook may update and jump only."
            raise InvalidUpdateError(msg, owner=owner)
        values = dict(cast("Mapping[str, Any]", command.update or {}))
        goto: Any = command.goto
        target = values.pop("jump_to", None)
        return values, _as_jump(goto) if goto else target
    msg = (
        f"{owner} returned {type(update).__name__}; a hook returns None or a dict of state keys, "
        "for example {'messages': [...], 'jump_to': 'end'}."
    )
    raise InvalidUpdateError(msg, owner=owner)


def _as_jump(goto: Any) -> Any:
    """A ``goto`` of a command in the words of ``jump_to``."""
    target: Any = goto
    if isinstance(goto, (list, tuple)) and goto:
        target = cast("list[Any]", goto)[0]
    return "end" if target == END else target
