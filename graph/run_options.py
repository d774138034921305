"""What one run is given beside its input, and the agent as that run sees it.

The options travel in the config, under a key of our own, so they reach every node whatever the
run is begun with. What of them is data is stored in the thread, so that a run that pauses goes on
with the same ones; options that are given with the answer take their place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from ..state.errors import InvalidInputError, InvalidInputTypeError
from ..state.storage import check_storable
from ..state.stored_run import all_are, checked_parts, unreadable
from ..tools.execution import ToolExecutor
from ..tools.selection import Wanted, select_tools, selectable_names
from .engine import Watchers, read_keys
from .live_tools import known_tools, live_tools, offered_first, toolsets_in
from .plan import MODEL, AgentPlan
from .prompts import PromptTemplate

RUN_OPTIONS = "__interlock_run_options"
"""Configurable key of the options."""

STORED = "run_options"
"""State key of what is kept over a pause."""


@dataclass(frozen=True)
class RunOptions:
    """Options of one run of one agent; None means that an option is not given."""

    plan: AgentPlan
    """The agent: a run inside this one, which inherits the config, is another one's."""
    generation_kwargs: Mapping[str, Any] | None = None
    """Arguments of each model call; they win over the model's own, key by key."""
    tools: Wanted | None = None
    """Names of the agent's tools, or other tools instead."""
    system_prompt: str | SystemMessage | None = None
    """In place of the agent's; an empty text means none."""
    chosen: list[Any] | None = field(init=False, default=None)
    """The tools and toolsets, checked."""
    parts: dict[str, Any] = field(init=False, default_factory=dict[str, Any])
    """What of the agent depends on the tools, made once."""

    def __post_init__(self) -> None:
        if self.tools is not None:
            object.__setattr__(self, "chosen", _chosen(self.plan, self.tools))
        if self.generation_kwargs is not None and not isinstance(
            cast("Any", self.generation_kwargs), Mapping
        ):
            msg = f"generation_kwargs is {self.generation_kwargs!r}; give a dict."
            raise InvalidInputTypeError(msg, key="generation_kwargs")

    def put_in(self, config: RunnableConfig | None) -> RunnableConfig:
        """The config with these options."""
        given = config or {}
        values = {**given.get("configurable", {}), RUN_OPTIONS: self}
        return cast("RunnableConfig", {**given, "configurable": values})

    def check_storable(self) -> None:
        """Refuse options that no thread can hold.

        Raises:
            UnstorableValueError: One is neither plain data nor a message.
        """
        check_storable({STORED: self.record()}, self.plan.storable)

    def record(self) -> dict[str, Any]:
        """What is given, as data that a thread can hold."""
        record: dict[str, Any] = {}
        if self.generation_kwargs is not None:
            record["settings"] = dict(self.generation_kwargs)
        if self.chosen is not None:
            record["provider_tools"] = [t for t in self.chosen if isinstance(t, dict)]
            others = [t for t in self.chosen if not isinstance(t, dict)]
            record["tools"] = selectable_names(others)
        if self.system_prompt is not None:
            record["system"] = _as_message(self.system_prompt)
        return record


def options_to_store(plan: AgentPlan, config: RunnableConfig) -> list[tuple[str, Any]]:
    """The options of a run, to be stored beside its input.

    They are written with each input, so that no run has those of the one before it.
    """
    options = options_in(config, plan)
    if options is not None and Watchers.of(config).durable:
        options.check_storable()
    return [(STORED, options.record() if options is not None else None)]


def options_in(config: RunnableConfig, plan: AgentPlan) -> RunOptions | None:
    """The options of a run of this agent, if it was given any."""
    given = config.get("configurable", {}).get(RUN_OPTIONS)
    return given if isinstance(given, RunOptions) and given.plan is plan else None


@dataclass(frozen=True)
class OpenedRun:
    """An agent as one run of it sees it."""

    plan: AgentPlan
    record: dict[str, Any] | None = None
    """What is to be stored."""
    changed: bool = False
    """It is not stored yet."""


def open_run(
    plan: AgentPlan, node: str, state: Mapping[str, Any], config: RunnableConfig
) -> OpenedRun:
    """The agent with the options of a run, those of the thread and those of the config.

    Args:
        plan: The agent as it was built.
        node: The node that is executed.
        state: Its input.
        config: Its config.

    Raises:
        InvalidInputError: A tool of the run is not there any more.
        StorageError: The thread holds something else than options.
    """
    stored: Any = state.get(STORED) or {}
    options = options_in(config, plan)
    begins = node == MODEL and state.get("run_ledger") is None
    renders = begins and isinstance(plan.prompts.system, PromptTemplate)
    if not stored and options is None and not renders:
        return OpenedRun(plan)
    record = dict(_checked(stored)) if plan.keeps_options or not begins else {}
    if renders:
        values = read_keys(config, plan.prompts.variables)
        record["system"] = plan.prompts.system_for(values)
    if options is not None:
        record.update(options.record())
    return OpenedRun(_plan_of(plan, record, options), record or None, changed=record != stored)


def _checked(stored: Any) -> dict[str, Any]:
    """The options that a thread holds, each in the form in which it is written."""
    record = checked_parts(STORED, stored, _FORMS)
    if ("tools" in record) != ("provider_tools" in record):
        raise unreadable(STORED, "tools")
    return record


_FORMS: Mapping[str, Callable[[Any], bool]] = {
    "settings": lambda option: isinstance(option, dict),
    "provider_tools": all_are(dict),
    "tools": all_are(str),
    "system": lambda option: option is None or isinstance(option, BaseMessage),
}
"""What each stored option may be."""


def _plan_of(plan: AgentPlan, record: Mapping[str, Any], options: RunOptions | None) -> AgentPlan:
    changes: dict[str, Any] = {}
    if "system" in record:
        system = cast("BaseMessage | None", record["system"])
        changes["system_message"] = system if system is not None and system.content else None
    if settings := record.get("settings"):
        changes["model_settings"] = settings
    if "tools" in record:
        changes |= _tools_of(plan, record, options)
    return replace(plan, **changes) if changes else plan


def _tools_of(
    plan: AgentPlan, record: Mapping[str, Any], options: RunOptions | None
) -> dict[str, Any]:
    """The parts of a plan that depend on the tools."""
    if options is None or options.chosen is None:
        return _with_tools(plan, _named(plan, record["tools"], record["provider_tools"]))
    if not options.parts:
        options.parts.update(_with_tools(plan, options.chosen))
    return options.parts


def _with_tools(plan: AgentPlan, chosen: Sequence[Any]) -> dict[str, Any]:
    sources = _sources(plan, chosen)
    tools = offered_first(sources)
    live = live_tools(sources)
    calls_tools = bool(tools.by_name or live or plan.executor.wraps)
    return {
        "executor": ToolExecutor(tools, plan.executor.wraps, plan.executor.policy),
        "binder": plan.binder.knowing(tools.by_name),
        "exits": replace(plan.exits, calls_tools=calls_tools),
        "live": live,
    }


def _named(plan: AgentPlan, names: Sequence[str], provider: Sequence[Any]) -> list[Any]:
    """The tools of a run that goes on with what its thread knows: their names."""
    own = [entry for entry in plan.own_tools if not isinstance(entry, dict)]
    known = set(selectable_names(own))
    missing = [name for name in names if name not in known]
    if missing:
        msg = (
            f"The run was begun with tools of its own ({', '.join(missing)}), which a thread does "
            "not hold; give them again: tools=[...]."
        )
        raise InvalidInputError(msg, key="tools")
    return [*select_tools(own, names), *provider]


def _chosen(plan: AgentPlan, wanted: Wanted) -> list[Any]:
    """The tools and toolsets of a run, checked together with those of the middleware."""
    chosen: list[Any] = select_tools(plan.own_tools, wanted)
    known_tools(_sources(plan, chosen))
    for toolset in toolsets_in([("the run", chosen)]):
        keys = set(getattr(toolset.state_schema, "__annotations__", ())) - {*plan.schema.fields}
        if keys:
            msg = (
                f"Toolset {toolset.name!r} keeps {', '.join(sorted(keys))} in the state, which this "
                "agent has not; give the agent the toolset, and the run its tools by name."
            )
            raise InvalidInputError(msg, key="tools")
    return chosen


def _sources(plan: AgentPlan, chosen: Sequence[Any]) -> list[tuple[str, Sequence[Any]]]:
    return [*plan.added_tools, ("the run", chosen)]


def _as_message(prompt: str | SystemMessage) -> SystemMessage:
    return SystemMessage(prompt) if isinstance(prompt, str) else prompt
