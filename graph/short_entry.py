"""A run that nobody watches begins at the model.

langgraph gives the input a superstep of its own, before the first node: a sixth of what a run
with one model call takes. Where nobody can see it, the input goes into the state as the run
begins, and the model node with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.constants import START
from langgraph.graph.state import CompiledStateGraph

from .beside_input import WriteBeside
from .engine import UNWATCHED, entry_of, is_nested, only_passes_on, stores_threads
from .listeners import somebody_listens
from .plan import MODEL

_ENTRY = entry_of(MODEL)


def may_enter_at_once(
    graph: CompiledStateGraph[Any, Any, Any, Any], config: RunnableConfig
) -> bool:
    """Whether nobody can see how a run of a graph begins, and nothing else is done there."""
    values = config.get("configurable", {})
    return (
        values.get(UNWATCHED) is True
        # A limit that small would have been reached.
        and config.get("recursion_limit", 2) > 1
        and not is_nested(config)
        and not stores_threads(graph, config)
        and _passes_on(cast("list[Any]", graph.nodes[START].writers), config)
        and not (graph.config or {}).get("callbacks")
        and not somebody_listens(config.get("callbacks"))
    )


def _passes_on(writers: Sequence[Any], config: RunnableConfig) -> bool:
    """Whether the input is written into the state, and nothing else."""
    if len(writers) == 1 and isinstance(writers[0], WriteBeside):
        return writers[0].passes_on(config)
    return only_passes_on(writers)


def entering_at_once(
    graph: CompiledStateGraph[Any, Any, Any, Any], value: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What to change in a graph so that its input starts the model node, and that input."""
    keys = [*graph.builder.schemas[graph.builder.input_schema], _ENTRY]
    given = {key: value[key] for key in value if key in keys}
    return {"input_channels": keys}, {**given, _ENTRY: None}
