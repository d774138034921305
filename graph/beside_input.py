"""What is stored with an input that is no part of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.pregel._write import ChannelWrite

from .engine import only_passes_on, write_keys

Beside = Callable[[RunnableConfig], Sequence[tuple[str, Any]]]
"""Reads the updates of state keys off the config of a run."""


class WriteBeside(ChannelWrite):
    """What langgraph does with an input, and then further updates, before any node runs.

    It is one step and not a sequence of its own, which would be traced; and of the kind in which
    a picture of the graph looks for the way on.
    """

    def __init__(self, writers: Sequence[Any], beside: Sequence[Beside]) -> None:
        super().__init__([entry for writer in writers for entry in writer.writes])
        self._writers = writers
        self._beside = beside

    def passes_on(self, config: RunnableConfig) -> bool:
        """Whether in this run it writes the input, and nothing else."""
        return only_passes_on(self._writers) and not any(read(config) for read in self._beside)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:
        """Write all of it; ``input`` is passed on."""
        for writer in self._writers:
            writer.invoke(input, config)
        if config is not None:
            for read in self._beside:
                if writes := read(config):
                    write_keys(config, writes)
        return input

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:
        """:meth:`invoke`: nothing in it waits."""
        return self.invoke(input, config)
