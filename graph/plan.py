"""Everything about an agent that is fixed when it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import SystemMessage

from ..middleware.collect import HookPlan
from ..state.merge import MergedSchema
from ..state.working import KeyRules
from ..tools.execution import ToolExecutor
from .binding import ModelBinder
from .exits import ExitRules
from .live_tools import LiveTools
from .prompts import Prompts
from .structured_output import OutputPlan

MODEL, TOOLS, END_NODE = "model", "tools", "end"
"""The nodes of an agent; ``end`` exists where hooks run when a run ends."""


@dataclass(frozen=True)
class AgentPlan:
    """The parts of one agent. Runs share it and never change it."""

    model: BaseChatModel
    system_message: SystemMessage | None
    binder: ModelBinder
    executor: ToolExecutor
    hooks: HookPlan
    exits: ExitRules
    schema: MergedSchema
    rules: KeyRules
    nodes: tuple[str, ...]
    """Names of the nodes that exist."""
    output: OutputPlan
    """How a structured answer is asked for and read, if one is due."""
    name: str | None = None
    """The agent's name: the name of its replies."""
    prompts: Prompts = field(default_factory=Prompts)
    """The system and the user prompt, where runs render them."""
    keeps_options: bool = False
    """Runs may be given options, and a thread keeps them with their input."""
    model_settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments of every model call of the run."""
    own_tools: Sequence[Any] = ()
    """The tools that the agent was given, as they were given."""
    added_tools: Sequence[tuple[str, Sequence[Any]]] = ()
    """Those of each middleware, with its name."""
    live: LiveTools | None = None
    """All of them, where there are toolsets; ``executor`` is then for the beginning of a run."""
    storable: frozenset[type] = frozenset()
    """Declared classes that a thread may hold."""
    state_keys: frozenset[str] = frozenset()
    """State keys that a tool's dict may write."""
    defaults: dict[str, Callable[[], Any]] = field(default_factory=dict[str, Callable[[], Any]])
    """Makers of the values that a run is not given."""
