"""The settings of an agent: what ``create_agent`` takes besides the model and the tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from langchain_core.messages import SystemMessage
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer

from ..state.channels import MessageStorage
from ..state.suggestion import refuse_unknown
from ..tools.execution import OnToolError
from .prompts import RequiredVariables


class AgentSettings(TypedDict, total=False):
    """Keyword arguments of ``create_agent``; each may be left out."""

    system_prompt: str | SystemMessage | None
    """Put before the conversation at each model call, never stored. Text as it is; a Jinja2
    template if ``user_prompt`` or ``required_variables`` is given, and for ``Agent``."""
    user_prompt: str | None
    """A Jinja2 template of the message that is put behind those of each run's input."""
    required_variables: RequiredVariables
    """Template variables that a run must be given as input keys: ``"*"``, the default, for all,
    None for none, or their names. Those that are not given write nothing."""
    middleware: Sequence[Any]
    """Guards of the run, the first one outermost: our ``AgentMiddleware`` or LangChain's."""
    hooks: Mapping[str, Sequence[Any]] | None
    """Further hooks by point: ``before_run``, ``before_llm``, ``before_tool``, ``after_tool``,
    ``on_exit``, ``after_run``; they run like those of a middleware registered last."""
    response_format: Any
    """The structured answer that is due: a schema, a union of schemas, or a strategy."""
    state_schema: Any
    """The agent's state: a subclass of ``AgentState``, a dataclass, a pydantic model, or a dict such
    as ``{"docs": {"type": list[str], "handler": merge_lists}}``."""
    context_schema: Any
    """Type of the ``context`` that a run is given."""
    checkpointer: Checkpointer
    """Stores threads, so that runs can pause, resume and go on."""
    store: BaseStore | None
    """Long-term memory, for tools and hooks."""
    interrupt_before: list[str] | None
    """Nodes (``model``, ``tools``, ``end``) to pause before."""
    interrupt_after: list[str] | None
    """Nodes to pause after."""
    debug: bool
    """Print what happens in each step."""
    name: str | None
    """Name of the agent: of its graph and of its replies."""
    cache: Any
    """A langgraph cache, for nodes with a cache policy."""
    transformers: Sequence[Any] | None
    """Stream transformer factories for ``stream_events(version="v3")``."""
    exit_conditions: Sequence[str] | None
    """What ends a run: ``"text"``, a reply without tool calls, or the name of a tool that
    succeeded. ``["text"]`` by default."""
    max_agent_steps: int
    """Model calls of one run, 100 by default; the run then ends with the exit reason
    ``max_agent_steps``."""
    max_tokens_total: int | None
    """Tokens that the model calls of one run may use before it ends."""
    final_answer: bool
    """Ask the model once more, without tools, when the step limit is reached."""
    on_tool_error: OnToolError
    """``"message"``, the default, tells the model; ``"raise"`` ends the run; a function
    ``(error, request)`` gives the text for the model, or None to raise."""
    tool_concurrency_limit: int | None
    """Calls of one reply that may run at the same time. None, the default, sets no limit: all of
    them on an event loop, and as many as there are threads, 16, elsewhere."""
    message_storage: MessageStorage
    """``"delta"``, the default, stores new messages only, with regular full copies; ``"full"``
    stores all messages at each step."""


DEFAULTS: AgentSettings = {
    "system_prompt": None,
    "user_prompt": None,
    "required_variables": "*",
    "middleware": (),
    "hooks": None,
    "response_format": None,
    "state_schema": None,
    "context_schema": None,
    "checkpointer": None,
    "store": None,
    "interrupt_before": None,
    "interrupt_after": None,
    "debug": False,
    "name": None,
    "cache": None,
    "transformers": None,
    "exit_conditions": None,
    "max_agent_steps": 100,
    "max_tokens_total": None,
    "final_answer": False,
    "on_tool_error": "message",
    "tool_concurrency_limit": None,
    "message_storage": "delta",
}
"""What holds where a setting is left out."""


RUN_PARAMETERS = frozenset(
    {
        *("config", "context", "generation_kwargs", "messages", "streaming_callback"),
        *("system_prompt", "thread_id", "tools"),
    }
)
"""What ``Agent.run`` takes beside state keys and template variables."""


OTHER_NAMES = {
    "prompt": "system_prompt",
    "pre_model_hook": "a before_model hook, in middleware",
    "post_model_hook": "an after_model hook, in middleware",
    "raise_on_tool_invocation_failure": 'on_tool_error="raise"',
    "confirmation_strategies": "ApprovalMiddleware, in middleware",
    "streaming_callback": "stream and astream; Agent takes it as it is",
}
"""What settings of others are here: of LangGraph's ``create_react_agent`` and Haystack's agents."""


def with_defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings, those that were not given with their defaults.

    Raises:
        TypeError: A name is no setting.
    """
    refuse_unknown("create_agent", given, DEFAULTS, OTHER_NAMES)
    return {**DEFAULTS, **given}


def uses_templates(given: Mapping[str, Any]) -> bool:
    """Whether prompts are templates: LangChain's users write braces that mean themselves."""
    return given.get("user_prompt") is not None or "required_variables" in given
