"""What a run of an ``Agent`` is called with, sorted into the input and the config of its graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.messages import SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from ...state.errors import InvalidInputError, InvalidInputTypeError
from ...state.suggestion import did_you_mean
from ...tools.selection import Wanted
from ..compiled import AgentGraph
from ..run_options import RunOptions
from ..settings import RUN_PARAMETERS
from .chunks import StreamingCallback

HAYSTACK_ARGUMENTS = {
    "break_point": "interrupt_before or interrupt_after of the agent",
    "chat_message_store_kwargs": "thread_id",
    "confirmation_strategy_context": "context",
    "hook_context": "context",
    "memory_store_kwargs": "context",
    "snapshot": "run(Command(resume=...), thread_id=...)",
}
"""What arguments of Haystack's ``run`` are here. Source: Haystack 2.19 to 3.4."""


@dataclass(frozen=True)
class RunArguments:
    """The arguments of one run."""

    messages: Any = None
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """State keys and template variables."""
    streaming_callback: StreamingCallback | None = None
    generation_kwargs: Mapping[str, Any] | None = None
    tools: Wanted | None = None
    system_prompt: str | SystemMessage | None = None
    context: Any = None
    thread_id: str | None = None
    config: RunnableConfig | None = None

    def input_of(self, graph: AgentGraph) -> Any:
        """The input of the graph.

        Raises:
            InvalidInputTypeError: A keyword is no input of the agent; it names the one that may
                be meant.
            InvalidInputError: A resumed run is given more input.
        """
        known = graph.builder.input_schema.__annotations__
        for name in self.inputs:
            if name not in known:
                here = HAYSTACK_ARGUMENTS.get(name)
                close = did_you_mean(name, [*known, *RUN_PARAMETERS])
                hint = f" Here it is {here}." if here else close
                msg = f"run has no keyword {name!r}; this agent takes {', '.join(known)}.{hint}"
                raise InvalidInputTypeError(msg, key=name)
        if isinstance(self.messages, Command):
            if self.inputs:
                msg = f"A resumed run takes no input; leave out {', '.join(self.inputs)}."
                raise InvalidInputError(msg, key=next(iter(self.inputs)))
            command = cast("Command[Any]", self.messages)
            # langgraph goes on after a breakpoint or a failure when it is given nothing.
            return None if command == Command() else command
        given = {} if self.messages is None else {"messages": self.messages}
        return {**given, **self.inputs}

    def config_for(self, options: RunOptions | None) -> RunnableConfig:
        """The config of the run."""
        config = cast("RunnableConfig", dict(self.config or {}))
        if self.thread_id is not None:
            values = {**config.get("configurable", {}), "thread_id": self.thread_id}
            config["configurable"] = values
        return config if options is None else options.put_in(config)

    @property
    def has_options(self) -> bool:
        """Whether the run is given anything beside its input."""
        given = (self.generation_kwargs, self.tools, self.system_prompt)
        return any(option is not None for option in given)
