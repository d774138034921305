"""What model calls used: measured where they happen, and kept per model.

The record is a state value that updates are folded into. Each update names what it is for (a
reply, a tool call), and one that has been folded in already changes nothing, so several guards
of one agent may report the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Self, cast

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers.context import register_configure_hook
from langgraph.prebuilt.tool_node import ToolCallRequest, ToolRuntime

from ..state.containers import with_fields

Spending = dict[str, Any]
"""``{"run": {model: usage}, "thread": {model: usage}, "seen": [what this step reported]}``."""

Used = Mapping[str, UsageMetadata]
"""Usage by the name of the model."""

_UNNAMED = ""


def fold_spending(current: Spending, update: Spending) -> Spending:
    """The record with an update in it.

    Args:
        current: The record so far; empty at first.
        update: ``{"begin": True}`` when a run begins, or ``{"for": name, "reply": bool, "used":
            {model: usage}}``.
    """
    if update.get("begin"):
        return {"run": {}, "thread": current.get("thread", {}), "seen": []}
    seen = current.get("seen", [])
    if update["for"] in seen:
        return current
    # Tool calls come after the reply that made them, so with a new reply the old names can go.
    seen = [update["for"]] if update["reply"] else [*seen, update["for"]]
    before, used = current.get("run", {}), update["used"]
    run = _added(before, used)
    # In the first run of a thread there is one count for both.
    whole = current.get("thread", {})
    thread = run if whole == before else _added(whole, used)
    return {"run": run, "thread": thread, "seen": seen}


def used_by(reply: AIMessage) -> dict[str, UsageMetadata]:
    """What a reply used, under the name of its model; nothing if its provider did not say."""
    if not reply.usage_metadata:
        return {}
    return {model_of(reply): reply.usage_metadata}


def model_of(reply: AIMessage) -> str:
    """The name a reply gives its model, or an empty one."""
    metadata: dict[str, Any] = reply.response_metadata
    for key in ("model_name", "model", "model_id"):
        if isinstance(name := metadata.get(key), str) and name:
            return name
    return _UNNAMED


def tokens_of(used: Used) -> int:
    """Tokens in and out, of all models together."""
    return sum(u["input_tokens"] + u["output_tokens"] for u in used.values())


class Meter(BaseCallbackHandler):
    """Adds up what model calls use that happen while it is listening."""

    run_inline = True

    def __init__(self) -> None:
        self._replies: list[AIMessage] = []
        self._outer: Meter | None = None
        self._tokens: tuple[Any, Any] = (None, None)

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        """Keep the replies; appending is safe from several threads."""
        for generation in (g for row in response.generations for g in row):
            message = generation.message if isinstance(generation, ChatGeneration) else None
            if isinstance(message, AIMessage):
                self._replies.append(message)

    def hear(self, reply: AIMessage) -> None:
        """Keep a reply of a model that was asked without callbacks; outer meters keep it too."""
        self._replies.append(reply)
        if self._outer is not None:
            self._outer.hear(reply)

    def __enter__(self) -> Self:
        """Hear every call made in this context, and in those that are begun from it."""
        self._outer = METER.get()
        inherited = var_child_runnable_config.get() or {}
        self._tokens = METER.set(self), var_child_runnable_config.set(_heard(inherited, self))
        return self

    def __exit__(self, *_: object) -> None:
        """Hear no more."""
        METER.reset(self._tokens[0])
        var_child_runnable_config.reset(self._tokens[1])

    def used(self, *more: BaseMessage) -> dict[str, UsageMetadata]:
        """Usage per model so far.

        Args:
            more: Replies to add, unless the meter has seen them itself.
        """
        if not self._replies and not more:
            return {}
        if not self._replies and len(more) == 1 and isinstance(more[0], AIMessage):
            return used_by(more[0])
        replies = list(self._replies)
        known = {reply.id for reply in replies}
        replies += [m for m in more if isinstance(m, AIMessage) and m.id not in known - {None}]
        total: dict[str, UsageMetadata] = {}
        for reply in replies:
            total = _added(total, used_by(reply))
        return total


# langchain-core adds the meter to each call of a model or tool, but langgraph takes the handlers of
# a graph in a graph from the config alone (1.2.24), hence also the config.
METER: ContextVar[Meter | None] = ContextVar("interlock_meter", default=None)
"""The innermost meter that listens."""

register_configure_hook(METER, inheritable=True)


def with_meter(request: ToolCallRequest, meter: Meter) -> ToolCallRequest:
    """The request, its tool's runtime saying that the meter listens."""
    runtime = cast("ToolRuntime[Any, Any] | None", request.runtime)
    if runtime is None:
        return request
    told = with_fields(runtime, config=_heard(runtime.config, meter))
    return with_fields(request, runtime=told)


def _heard(config: RunnableConfig, meter: Meter) -> RunnableConfig:
    callbacks: Any = config.get("callbacks")
    if isinstance(callbacks, BaseCallbackManager) and not callbacks.handlers:
        # What else a manager knows is only for handlers to hear of.
        callbacks = [meter]
    elif isinstance(callbacks, BaseCallbackManager):
        callbacks = callbacks.copy()
        callbacks.add_handler(meter)
    else:
        callbacks = [*(callbacks or ()), meter]
    return {**config, "callbacks": callbacks}


def _added(total: Used, more: Used) -> dict[str, UsageMetadata]:
    added = dict(total)
    for model, usage in more.items():
        added[model] = _sum(total.get(model, {}), usage)  # type: ignore[assignment]
    return added


def _sum(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Counts added up key by key, those of details too."""
    total = dict(one)
    for key, count in other.items():
        if type(count) is int:
            total[key] = total.get(key, 0) + count
        elif isinstance(count, dict):
            total[key] = _sum(one.get(key) or {}, cast("dict[str, Any]", count))
        else:
            total[key] = one.get(key, 0) + count
    return total
