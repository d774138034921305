"""What every phase of one node execution works with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from ..state.ledger import Ledger
from ..state.working import WorkingState
from ..tools.calls import Calls
from .engine import Watchers
from .live_tools import StepTools
from .plan import AgentPlan


@dataclass(frozen=True)
class Stretch:
    """The agent, the state and the run, for as long as one node is executed."""

    plan: AgentPlan
    work: WorkingState
    ledger: Ledger
    calls: Calls
    config: RunnableConfig
    runtime: Runtime[Any]
    watchers: Watchers
    tools: StepTools
    contributions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Keys that hooks and layers of this node updated, by hook or layer, where somebody watches."""
