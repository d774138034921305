"""The executor: runs the tool calls of a reply and answers every one of them.

A call passes, from the outside in: the error policy, the ``wrap_tool_call`` layers, the check of
its arguments, the tool. Whatever happens in there, the call gets exactly one answer, unless the
run itself stops: an interrupt, a command for a parent graph, or a failure that the policy raises.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, cast

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command

from ..state.errors import ConfigurationError, ToolExecutionError
from ..state.fatal import is_fatal
from ..state.live import ToolState
from .batches import StateAccess, next_batch
from .calls import Calls
from .contributions import NotingLayers
from .definition import ToolSet
from .error_text import invalid_arguments_text, unknown_tool_text
from .failures import RaisingRequest, failed_text, stops_run
from .injection import tool_runtime
from .layers import Layer, LayerStack, call_layer
from .pausing import may_pause
from .results import MAX_RESULT_CHARS, CallResult, answer, read_result, with_updates
from .running import InvalidArgumentsError, RunnableTool
from .state_mapping import shown_result, state_updates

ErrorHandler = Callable[[Exception, ToolCallRequest], str | None]
OnToolError = Literal["message", "raise"] | ErrorHandler
"""What a failing tool means: an error result, the end of the run, or what a function says."""

Handler = Callable[[ToolCallRequest], Coroutine[Any, Any, Any]]

MAX_CALLS = 128
"""Calls of one reply that are run; the others are answered with an error."""


@dataclass(frozen=True)
class ToolPolicy:
    """How calls are run and what becomes of failures."""

    on_error: OnToolError = "message"
    concurrency_limit: int | None = None
    """Calls at the same time; None leaves it to the mode of the run."""
    max_result_chars: int = MAX_RESULT_CHARS
    """Characters of a result that the model gets to read."""
    max_calls: int = MAX_CALLS

    def __post_init__(self) -> None:
        limit: Any = self.concurrency_limit
        whole = isinstance(limit, int) and not isinstance(limit, bool)
        if limit is not None and (not whole or limit < 1):
            msg = f"tool_concurrency_limit is {limit!r}; it must be a whole number, at least 1."
            raise ConfigurationError(msg)
        if self.on_error not in ("message", "raise") and not callable(self.on_error):
            msg = f"on_tool_error is {self.on_error!r}; give 'message', 'raise' or a function."
            raise ConfigurationError(msg)


@dataclass(frozen=True)
class RunContext:
    """What the executor needs to know of the run: the same for all calls of a node."""

    calls: Calls
    config: RunnableConfig
    runtime: Runtime[Any]
    observed: bool
    """Handlers listen: every tool call must be a traced run."""
    state_keys: frozenset[str] = frozenset()
    """Declared state keys that a tool may write."""
    call_layer: Callable[..., Coroutine[Any, Any, Any]] = call_layer
    """How a layer is called: ``(calls, layer, handler, request)``."""
    live: Callable[[Mapping[str, Any], str], ToolState] | None = None
    """Makes the state that a tool writes as it runs: ``(values, owner)``."""
    streamed: bool = False
    """Somebody watches the updates, and wants to know which layer wrote what."""


@dataclass
class ToolExecutor:
    """Runs calls of a fixed set of tools, and of others that a layer supplies."""

    tools: ToolSet
    wraps: Sequence[Layer] = ()
    """Layers around each call: ``(request, handler) -> ToolMessage | Command``."""
    policy: ToolPolicy = field(default_factory=ToolPolicy)

    def __post_init__(self) -> None:
        self._runnable = {n: RunnableTool.of(t) for n, t in self.tools.by_name.items()}
        self._pausing: dict[str, bool] = {}
        self._kind = RaisingRequest if self.policy.on_error == "raise" else ToolCallRequest

    def batch(self, pending: Sequence[ToolCall]) -> list[ToolCall]:
        """The pending calls that may run now, see :func:`next_batch`."""
        return next_batch(pending, [self._access(call) for call in pending])

    def returns_direct(self, name: str) -> bool:
        """Whether the result of a tool is the agent's answer."""
        tool = self.tools.by_name.get(name)
        return tool is not None and tool.return_direct

    def may_pause(self, name: str) -> bool:
        """Whether calls of a tool are likely to pause the run: it has done so, or looks like it."""
        known = self._pausing.get(name)
        if known is None:
            tool = self.tools.by_name.get(name)
            known = self._pausing[name] = tool is not None and may_pause(tool)
        return known

    def refused(self, pending: Sequence[ToolCall]) -> list[CallResult]:
        """An error answer for each call beyond the most that one reply may make."""
        limit = self.policy.max_calls
        text = f"This reply made {len(pending)} calls; only the first {limit} were run."
        return [_error(call, text) for call in pending[limit:]]

    async def run(
        self, call: ToolCall, state: Mapping[str, Any], context: RunContext
    ) -> CallResult:
        """Run one call and answer it.

        Raises:
            GraphBubbleUp: The tool or a layer pauses the run or commands a parent graph.
            WouldBlockError: The tool is asynchronous and the run is not.
            Exception: What the tool raised, if the policy says so.
        """
        request = self._request(call, state, context)
        core = partial(self._invoke, context=context)
        stack = self._layered(core, context) if self.wraps else None
        try:
            answered = await (core if stack is None else stack.run)(request)
            return self._read(call, answered, stack)
        except Exception as error:
            if isinstance(error, GraphInterrupt):
                self._pausing[call["name"]] = True
            if stops_run(error):
                raise
            return self._failed(request, error)

    async def run_many(
        self, calls: Sequence[ToolCall], state: Mapping[str, Any], context: RunContext
    ) -> tuple[list[CallResult], list[Exception]]:
        """Run calls at the same time.

        Returns:
            The results of those that finished, in call order, and what the others raised.
        """
        if len(calls) == 1:
            jobs_done = [await self._attempt(calls[0], state, context)]
        else:
            jobs = [partial(self.run, call, state, context) for call in calls]
            outcomes = await context.calls.many(jobs, self.policy.concurrency_limit)
            jobs_done = [(o.value, o.error) for o in outcomes]
        return [v for v, _ in jobs_done if v is not None], [
            e for _, e in jobs_done if e is not None
        ]

    async def _attempt(
        self, call: ToolCall, state: Mapping[str, Any], context: RunContext
    ) -> tuple[CallResult | None, Exception | None]:
        try:
            return await self.run(call, state, context), None
        except Exception as error:  # noqa: BLE001 - the node decides what a failure means
            return None, error

    def _access(self, call: ToolCall) -> StateAccess:
        tool = self._runnable.get(call["name"])
        return tool.access(call["args"]) if tool is not None else StateAccess()

    def _request(
        self, call: ToolCall, state: Mapping[str, Any], context: RunContext
    ) -> ToolCallRequest:
        runtime = tool_runtime(
            state, call["id"], context.config, context.runtime, self.tools.by_name
        )
        tool = self.tools.by_name.get(call["name"])
        return self._kind(tool_call=call, tool=tool, state=state, runtime=runtime)

    def _layered(self, core: Handler, context: RunContext) -> LayerStack:
        """The call inside all layers."""
        kind = NotingLayers if context.streamed else LayerStack
        flat = not context.observed
        return kind(self.wraps, core, context.calls, context.call_layer, flat=flat)

    async def _invoke(self, request: ToolCallRequest, context: RunContext) -> Any:
        """Run the tool of a request, inside all layers."""
        call = request.tool_call
        tool = self._resolve(request.tool, call["name"])
        if tool is None:
            return self._refusal(call, unknown_tool_text(call["name"], self.tools.by_name))
        hidden = tool.injection.hidden(call["args"])
        live = self._live(tool, request, context)
        injected = tool.injection.values(request, cast("Any", request.runtime), live)
        args = {k: v for k, v in call["args"].items() if k not in hidden}
        try:
            value = await tool.run(call, args, injected, context)
        except InvalidArgumentsError as error:
            text = invalid_arguments_text(call["name"], call["args"], error.source, hidden)
            return self._refusal(call, text)
        finally:
            if live is not None:
                live.close()
        return self._answer(call, tool, value, live, context.state_keys)

    def _live(
        self, tool: RunnableTool, request: ToolCallRequest, context: RunContext
    ) -> ToolState | None:
        """The state that the tool writes as it runs, if it asks for one."""
        if tool.injection.live is None:
            return None
        if context.live is None:
            what = "a State, which only an agent can give; run it in one made by create_agent"
            raise tool.injection.missing(request, what)
        return context.live(request.state, f"Tool {request.tool_call['name']!r}")

    def _answer(
        self,
        call: ToolCall,
        tool: RunnableTool,
        value: Any,
        live: ToolState | None,
        state_keys: frozenset[str],
    ) -> Any:
        """What a tool returned and wrote, as its layers see it."""
        written = [] if live is None else live.take_writes()
        mapping = tool.mapping
        if not isinstance(value, (Command, ToolMessage)):
            if mapping.outputs:
                # What it declares is all that it updates.
                state_keys = frozenset()
                if updates := state_updates(mapping, value):
                    written.append(updates)
            value = shown_result(call["name"], mapping, value)
            if mapping.raw:
                ident = cast("str", call["id"])
                value = ToolMessage(value, tool_call_id=ident, name=call["name"])
        return with_updates(answer(call, value, state_keys), written)

    def _refusal(self, call: ToolCall, text: str) -> ToolMessage:
        if self.policy.on_error == "raise":
            raise ToolExecutionError(text, tool_name=call["name"], tool_call_id=call["id"])
        return _error(call, text).message

    def _resolve(self, tool: BaseTool | None, name: str) -> RunnableTool | None:
        """The tool to run: a layer may have put another one in the request."""
        if tool is None:
            return None
        known = self._runnable.get(name)
        return known if known is not None and known.tool is tool else RunnableTool.of(tool)

    def _read(self, call: ToolCall, value: Any, stack: LayerStack | None) -> CallResult:
        result = read_result(call, value, self.policy.max_result_chars)
        direct = self.returns_direct(call["name"])
        result.return_direct = direct and result.message.status != "error"
        if isinstance(stack, NotingLayers):
            result.contributions = stack.contributions(value, result)
        return result

    def _failed(self, request: ToolCallRequest, error: Exception) -> CallResult:
        """The answer to a call that raised, as the policy has it."""
        call, policy = request.tool_call, self.policy.on_error
        if policy == "raise" or is_fatal(error):
            raise error
        if callable(policy):
            text = policy(error, request)
            if text is None:
                raise error
            return _error(call, text)
        tool = self._resolve(request.tool, call["name"])
        return _error(call, failed_text(request, error, tool))


def _error(call: ToolCall, text: str) -> CallResult:
    message = ToolMessage(
        text, tool_call_id=cast("str", call["id"]), name=call["name"], status="error"
    )
    return CallResult(call, message)
