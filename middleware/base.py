"""The hook contract: what a middleware may define, and when it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, Self, TypeVar, cast

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command
from langgraph.typing import ContextT as ContextT  # noqa: PLC0414 - users parametrise with it
from typing_extensions import TypeVar as DefaultTypeVar

from ..state.errors import ConfigurationError
from ..state.schema import JUMP_TARGETS, AgentState, JumpTo
from .request import ModelCallResult, ModelRequest, ModelResponse

StateT = DefaultTypeVar("StateT", default=AgentState[Any])
ResponseT = DefaultTypeVar("ResponseT", default=Any)
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

Update = dict[str, Any] | Command[Any] | None
"""What a hook returns: new values by state key (and ``jump_to``), or nothing."""


class AgentMiddleware(Generic[StateT, ContextT, ResponseT]):
    """Guards the points of an agent's run: override the hooks you need.

    Each hook is written once, as ``def`` or ``async def``; one that is synchronous runs in a
    worker thread when the agent runs asynchronously. The twins beginning with ``a`` are honoured
    for middleware that has both forms.

    Order: ``before_…`` hooks run in the order of registration, ``after_…`` hooks and ``on_exit``
    in the reverse, and the first registered ``wrap_…`` is the outermost.

    One thing happens before all hooks: a middleware that defines ``filter_input(messages)``, with
    or without a twin ``afilter_input``, returns the messages of an input as they may be stored,
    streamed and traced, or an update with those ``messages`` and private keys of its own state.
    """

    state_schema: Any = AgentState
    """State keys that the middleware adds: a class, or a dict of types and handlers."""

    tools: Sequence[BaseTool] = ()
    """Tools that the middleware adds."""

    interrupts: bool | Sequence[str] = False
    """Whether the hooks pause the run (or the names of those that do): what ran before them in
    the same step is then stored first, so that a resume repeats nothing."""

    withholds_replies: bool = False
    """Replies may be stored in the form only that ``wrap_model_call`` gives them. Otherwise one
    that a layer fails or pauses behind is kept for the next try as the model gave it."""

    quick_hooks: bool = False
    """The hooks wait for nothing, so an asynchronous run calls them without a thread."""

    trace_policy: Any = None
    """What traced runs of the hooks record; a ``langgraph.types.TracePolicy``."""

    transformers: Sequence[Any] = ()
    """Stream transformer factories for ``stream_events(version="v3")``."""

    _made_with: tuple[tuple[Any, ...], dict[str, Any]]
    """The arguments of the constructor, so that a stored agent can say how to make it again."""

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Make an instance and note what it is made with."""
        made = super().__new__(cls)
        made._made_with = (args, options)
        return made

    @property
    def name(self) -> str:
        """Name in errors, traces and pictures; instances of one name are numbered."""
        return type(self).__name__

    def for_agent(
        self,
        name: str,  # noqa: ARG002
        tools: Mapping[str, BaseTool],  # noqa: ARG002
    ) -> AgentMiddleware[Any, Any, Any]:
        """What an agent that is being built uses in place of this: check the settings here.

        An instance may be given to several agents, so what depends on one agent belongs on a copy.

        Args:
            name: The middleware's name among those of the agent.
            tools: The agent's tools by name.
        """
        return self

    def before_agent(self, state: StateT, runtime: Runtime[ContextT]) -> Any:
        """Once per run, before anything else."""

    def before_model(self, state: StateT, runtime: Runtime[ContextT]) -> Any:
        """Before each model call."""

    def wrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], ModelResponse[ResponseT]],
    ) -> ModelCallResult | Awaitable[ModelCallResult]:
        """Around each model call: call ``handler`` once, several times, or not at all."""
        return handler(request)

    def after_model(self, state: StateT, runtime: Runtime[ContextT]) -> Any:
        """After each model call, the reply being the last message."""

    def before_tools(self, state: StateT, runtime: Runtime[ContextT]) -> Any:
        """Before the calls of a reply are run."""

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any] | Awaitable[ToolMessage | Command[Any]]:
        """Around each tool call."""
        return handler(request)

    def after_tools(self, state: StateT, runtime: Runtime[ContextT]) -> Any:
        """After the calls of a reply have been run, their results being the last messages."""

    def on_exit(self, state: StateT, runtime: Runtime[ContextT]) -> Any:
        """When an exit condition is met; ``{"jump_to": "model"}`` keeps the run going."""

    def after_agent(self, state: StateT, runtime: Runtime[ContextT]) -> Any:
        """Once per run, however it ends, except by an error."""

    def on_error(self, error: Exception, state: StateT, runtime: Runtime[ContextT]) -> Any:
        """When the run fails; an update or a jump makes the failure an answer.

        All of these hooks are told, once per failure and in the reverse order of registration;
        if several calls of a reply failed, of each in call order, when all have ended. One that
        fails itself is logged and noted on the error, which leaves the run if nobody answers.
        Without a jump, an answered run ends with the reason ``error``. It ends in any case if an
        ``after_agent`` hook failed (those behind it still run) or the run had too many supersteps.

        A hook may pause the run. When another process goes on, ``error`` is a
        :class:`~interlock.state.failures.RestoredError` with the text of the original, and an
        instance of its class where that is loaded. A recursion limit that langgraph itself
        enforces, in runs that are stored or watched, is told to no hook.
        """

    async def abefore_agent(self, state: StateT, runtime: Runtime[ContextT]) -> Any:
        """``before_agent`` in an asynchronous run."""
        return self.before_agent(state, runtime)

    async def abefore_model(self, state: StateT, runtime: Runtime[ContextT]) -> Any:
        """``before_model`` in an asynchronous run."""
        return self.before_model(state, runtime)

    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[ResponseT]]],
    ) -> ModelCallResult:
        """``wrap_model_call`` in an asynchronous run."""
        return await handler(request)

    async def aafter_model(self, state: StateT, runtime: Runtime[ContextT]) -> Any:
        """``after_model`` in an asynchronous run."""
        return self.after_model(state, runtime)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """``wrap_tool_call`` in an asynchronous run."""
        return await handler(request)

    async def aafter_agent(self, state: StateT, runtime: Runtime[ContextT]) -> Any:
        """``after_agent`` in an asynchronous run."""
        return self.after_agent(state, runtime)


def hook_config(
    *,
    can_jump_to: Sequence[JumpTo] | None = None,
    interrupts: bool | None = None,
    quick: bool = False,
) -> Callable[[FunctionT], FunctionT]:
    """Say more about a hook: where it may jump to, and that it pauses the run.

    Args:
        can_jump_to: The jumps it may take. Any other jump is then an error; a hook that declares
            none may take every jump.
        interrupts: The hook calls ``interrupt``.
        quick: The hook waits for nothing, so an asynchronous run calls it without a thread.

    Raises:
        ConfigurationError: A target is none of ``model``, ``tools`` and ``end``.
    """
    for target in can_jump_to or ():
        if target not in JUMP_TARGETS:
            msg = f"can_jump_to names {target!r}; the targets are {', '.join(JUMP_TARGETS)}."
            raise ConfigurationError(msg)

    def mark(function: FunctionT) -> FunctionT:
        marked = cast("Any", function)
        if can_jump_to is not None:
            marked.__can_jump_to__ = list(can_jump_to)
        if interrupts is not None:
            marked.__interrupts__ = interrupts
        if quick:
            marked.__quick__ = True
        return function

    return mark
