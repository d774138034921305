"""Building an agent: from settings to a compiled graph of three nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import SystemMessage
from langchain_core.tools import BaseTool
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolCallTransformer
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer

from ..middleware.base import AgentMiddleware
from ..middleware.collect import HookPlan, collect_hooks, middleware_name
from ..state.channels import MessageStorage
from ..state.errors import ConfigurationError
from ..state.input import InputCheck
from ..state.ledger import ENGINE_KEYS, LEDGER_OUTPUTS
from ..state.merge import MergedSchema, merge_schemas
from ..state.schema import AgentState
from ..state.storage import declared_types, strict_checkpointer
from ..state.working import KeyRules
from ..tools.definition import ToolSet, collect_tools
from ..tools.execution import OnToolError, ToolExecutor, ToolPolicy
from .binding import ModelBinder, check_model
from .compiled import AgentGraph
from .engine import DEFAULT_RECURSION_LIMIT
from .node import AgentNode
from .plan import END_NODE, MODEL, TOOLS, AgentPlan
from .routing import ExitRules
from .structured_output import OutputPlan

TEXT = "text"
"""The exit condition that a reply in text meets."""


def create_agent(  # noqa: PLR0913
    model: str | BaseChatModel,
    tools: Sequence[BaseTool | Callable[..., Any] | dict[str, Any]] | None = None,
    *,
    system_prompt: str | SystemMessage | None = None,
    middleware: Sequence[AgentMiddleware[Any, Any, Any]] = (),
    response_format: Any = None,
    state_schema: Any = None,
    context_schema: Any = None,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
    interrupt_before: list[str] | None = None,
    interrupt_after: list[str] | None = None,
    debug: bool = False,
    name: str | None = None,
    cache: Any = None,
    transformers: Sequence[Any] | None = None,
    exit_conditions: Sequence[str] | None = None,
    max_agent_steps: int = 100,
    max_tokens_total: int | None = None,
    final_answer: bool = False,
    on_tool_error: OnToolError = "message",
    tool_concurrency_limit: int | None = None,
    message_storage: MessageStorage = "delta",
) -> AgentGraph:
    """Build an agent: a model that calls tools until an exit condition is met.

    Args:
        model: A chat model, or ``"provider:name"``.
        tools: Tool objects, functions with a docstring, or a provider's own tools as dicts.
        system_prompt: Put before the conversation at each model call, never stored.
        middleware: Guards of the run; the first one is outermost.
        response_format: The structured answer that is due: a schema or a strategy.
        state_schema: The agent's state, usually a subclass of ``AgentState``.
        context_schema: Type of the ``context`` that a run is given.
        checkpointer: Stores threads, so that runs can pause, resume and go on.
        store: Long-term memory, for tools and hooks.
        interrupt_before: Nodes (``model``, ``tools``, ``end``) to pause before.
        interrupt_after: Nodes to pause after.
        debug: Print what happens in each step.
        name: Name of the agent, of its graph and of its replies.
        cache: A langgraph cache for nodes with a cache policy.
        transformers: Stream transformer factories for ``stream_events(version="v3")``.
        exit_conditions: What ends a run: ``"text"`` for a reply without tool calls, or the name
            of a tool that succeeded. ``["text"]`` by default.
        max_agent_steps: Model calls of one run, at most; the run then ends with the reason
            ``max_agent_steps``.
        max_tokens_total: Tokens that the model calls of one run may use before it ends.
        final_answer: Ask the model once more, without tools, when the step limit is reached.
        on_tool_error: ``"message"`` tells the model, ``"raise"`` ends the run, a function
            ``(error, request)`` returns the text for the model, or None to raise.
        tool_concurrency_limit: Calls of one reply that run at the same time.
        message_storage: ``"delta"`` stores only new messages with regular full copies,
            ``"full"`` all messages at each step.

    Returns:
        A compiled langgraph graph. Its result holds ``messages``, the keys of the state, and
        what the run was: ``exit_reason``, ``step_count``, ``token_usage``, ``tool_call_counts``.

    Raises:
        ConfigurationError: A setting is wrong; the message names it.
        TypeError: ``model`` is no chat model.
    """
    if isinstance(model, str):
        from .models.registry import init_chat_model  # noqa: PLC0415 - only strings need it

        model = cast("BaseChatModel", init_chat_model(model))
    policy = ToolPolicy(on_error=on_tool_error, concurrency_limit=tool_concurrency_limit)
    hooks = collect_hooks(middleware)
    toolset = _toolset(middleware, tools)
    schemas = [getattr(m, "state_schema", AgentState) for m in middleware]
    schema = merge_schemas([*schemas, state_schema or AgentState], message_storage)
    output = OutputPlan.from_response_format(response_format)
    output.check_tool_names(toolset.by_name)
    exits = _exit_rules(
        toolset,
        hooks,
        exit_conditions,
        max_steps=max_agent_steps,
        max_tokens_total=max_tokens_total,
        final_answer=final_answer,
    )
    graph = StateGraph(schema.state, context_schema, input_schema=schema.input, output_schema=schema.output)  # type: ignore[arg-type]
    types = declared_types(
        [*(f.annotation for f in schema.fields.values()), *output.schemas]
    )
    plan = AgentPlan(
        model=check_model(model),
        system_message=_system_message(system_prompt),
        binder=ModelBinder(list(toolset.by_name), open_ended=bool(hooks.wraps["wrap_tool_call"])),
        executor=ToolExecutor(toolset, hooks.wraps["wrap_tool_call"], policy),
        hooks=hooks,
        exits=exits,
        schema=schema,
        rules=_key_rules(graph, schema),
        nodes=_nodes(exits, hooks),
        output=output,
        name=name,
        storable=types,
        state_keys=frozenset(schema.fields) - {"jump_to", "structured_response"},
        defaults={k: f.default for k, f in schema.fields.items() if f.default is not None},
    )
    for node in plan.nodes:
        graph.add_node(node, AgentNode(plan, node), destinations=_destinations(node, plan))
    graph.add_edge(START, MODEL)
    compiled = graph.compile(
        checkpointer=strict_checkpointer(checkpointer, types),
        store=store,
        cache=cache,
        interrupt_before=interrupt_before,
        interrupt_after=interrupt_after,
        debug=debug,
        name=name,
        transformers=_transformers(middleware, transformers),
    )
    compiled.stream_channels = [k for k in compiled.stream_channels_list if k not in ENGINE_KEYS]
    metadata = {"lc_agent_name": name} if name is not None else {}
    agent = AgentGraph.of(compiled, InputCheck(schema))
    return cast(
        "AgentGraph",
        agent.with_config({"recursion_limit": DEFAULT_RECURSION_LIMIT, "metadata": metadata}),
    )


def _toolset(middleware: Iterable[Any], tools: Sequence[Any] | None) -> ToolSet:
    sources = [
        (f"middleware {middleware_name(m)!r}", list(getattr(m, "tools", None) or ()))
        for m in middleware
    ]
    return collect_tools([*sources, ("the agent", list(tools or ()))])


def _exit_rules(
    tools: ToolSet,
    hooks: HookPlan,
    conditions: Sequence[str] | None,
    *,
    max_steps: int,
    max_tokens_total: int | None,
    final_answer: bool,
) -> ExitRules:
    """Check the exit conditions against the tools.

    Raises:
        ConfigurationError: A condition names no tool, or a limit is below 1.
    """
    for setting, value in (("max_agent_steps", max_steps), ("max_tokens_total", max_tokens_total)):
        if value is not None and (isinstance(value, bool) or value < 1):
            msg = f"{setting} is {value!r}; it must be at least 1."
            raise ConfigurationError(msg)
    open_ended = bool(hooks.wraps["wrap_tool_call"])
    names = [TEXT] if conditions is None else list(conditions)
    for condition in names:
        if condition == TEXT or condition in tools.by_name or open_ended:
            continue
        close = get_close_matches(condition, [TEXT, *tools.by_name], n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        known = ", ".join([TEXT, *tools.by_name])
        msg = f"Exit condition {condition!r} names no tool; known are {known}.{hint}"
        raise ConfigurationError(msg)
    return ExitRules(
        tools=frozenset(names) - {TEXT},
        text=TEXT in names,
        max_steps=max_steps,
        max_tokens_total=max_tokens_total,
        final_answer=final_answer,
        calls_tools=bool(tools.by_name) or open_ended,
    )


def _key_rules(graph: StateGraph[Any], schema: MergedSchema) -> KeyRules:
    channels = cast("dict[str, Any]", graph.channels)
    validators = {
        key: adapter
        for key, field in schema.fields.items()
        if field.validated and (adapter := field.adapter()) is not None
    }
    return KeyRules(channels, validators, frozenset({*ENGINE_KEYS, *LEDGER_OUTPUTS}))


def _nodes(exits: ExitRules, hooks: HookPlan) -> tuple[str, ...]:
    nodes = [MODEL]
    if exits.calls_tools:
        nodes.append(TOOLS)
    if hooks.has("on_exit", "after_agent"):
        nodes.append(END_NODE)
    return tuple(nodes)


def _destinations(node: str, plan: AgentPlan) -> tuple[str, ...]:
    """Where a node may go, for the picture of the graph."""
    last = END_NODE if END_NODE in plan.nodes else END
    if node == MODEL:
        again = plan.output.strategy is not None or plan.hooks.has("before_model", "after_model")
        return (*((TOOLS,) if TOOLS in plan.nodes else ()), last, *((MODEL,) if again else ()))
    if node == TOOLS:
        direct = any(t.return_direct for t in plan.executor.tools.by_name.values())
        ends = direct or plan.exits.tools or plan.output.strategy is not None
        return (MODEL, last) if ends or plan.hooks.has("before_tools", "after_tools") else (MODEL,)
    return (MODEL, END) if plan.hooks.has("on_exit", "after_agent") else (END,)


def _system_message(prompt: str | SystemMessage | None) -> SystemMessage | None:
    if prompt is None or isinstance(prompt, SystemMessage):
        return prompt
    return SystemMessage(prompt)


def _transformers(middleware: Iterable[Any], own: Sequence[Any] | None) -> list[Any]:
    """Stream projections in order, exact repeats dropped."""
    found = [t for m in middleware for t in getattr(m, "transformers", None) or ()]
    unique: list[Any] = []
    for transformer in (ToolCallTransformer, *found, *(own or ())):
        if not any(transformer is known for known in unique):
            unique.append(transformer)
    return unique


