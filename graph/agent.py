"""Building an agent: from settings to a compiled graph of three nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack, cast

from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolCallTransformer

from ..middleware.collect import HookPlan, collect_hooks, fit_to_agent, middleware_name
from ..middleware.model_names import resolve_names_with
from ..middleware.run_hooks import with_run_hooks
from ..state.input import InputCheck
from ..state.ledger import ENGINE_KEYS, LEDGER_OUTPUTS, RESERVED_KEYS
from ..state.merge import MergedSchema, merge_schemas
from ..state.schema import AgentState
from ..state.storage import declared_types, strict_checkpointer
from ..state.working import KeyRules
from ..tools.definition import ToolLike
from ..tools.execution import ToolExecutor, ToolPolicy
from ..tools.state_mapping import check_state_keys
from ..tools.toolset import Toolset
from .admission import Admission, set_aside
from .beside_input import Beside, WriteBeside
from .binding import ModelBinder, check_model, check_takes_tools
from .compiled import AgentGraph
from .composition import SubagentTransformer
from .engine import AGENT_NAME, DEFAULT_RECURSION_LIMIT
from .exits import ExitRules, exit_rules
from .live_tools import Sources, known_tools, live_tools, offered_first, toolsets_in
from .node import AgentNode
from .plan import END_NODE, MODEL, TOOLS, AgentPlan
from .prompts import Prompts
from .prompts.input import PromptedInput, input_schema
from .run_options import options_to_store
from .settings import RUN_PARAMETERS, AgentSettings, uses_templates, with_defaults
from .structured_output import OutputPlan
from .structured_output import supports_provider_strategy as _supports_provider_strategy


def create_agent(
    model: str | BaseChatModel,
    tools: Toolset | Sequence[ToolLike | Toolset] | None = None,
    **settings: Unpack[AgentSettings],
) -> AgentGraph:
    """Build an agent: a model that calls tools until an exit condition is met.

    Args:
        model: A chat model, or ``"provider:name"``.
        tools: Tool objects, functions with a docstring, a provider's own tools as dicts, and
            toolsets, which are looked at again at each step.
        **settings: See :class:`~interlock.graph.settings.AgentSettings`.

    Returns:
        A compiled langgraph graph. The result of a run holds ``messages``, the keys of the
        state, and what the run was: ``exit_reason``, ``step_count``, ``token_usage``,
        ``tool_call_counts``.

    Raises:
        ConfigurationError: A setting is wrong; the message names it.
        TypeError: ``model`` is no chat model, or a name is no setting.
    """
    return build_agent(model, tools, settings)


def build_agent(
    model: str | BaseChatModel,
    tools: Toolset | Sequence[Any] | None,
    settings: Mapping[str, Any],
    *,
    takes_options: bool = False,
) -> AgentGraph:
    """Build the graph of an agent.

    Args:
        model: As of :func:`create_agent`.
        tools: As there.
        settings: As there, as a dict.
        takes_options: Runs may be given options; one may bring tools, so there is a node for them
            whatever ``tools`` holds.

    Raises:
        ConfigurationError: A setting is wrong; the message names it.
        TypeError: ``model`` is no chat model, or a name is no setting.
    """
    options = with_defaults(settings)
    options["takes_options"] = takes_options
    own = options["own_tools"] = [tools] if isinstance(tools, Toolset) else list(tools or ())
    chat_model = _model(model)
    sources = _sources(options["middleware"], own)
    known = options["known_tools"] = known_tools(sources)
    middleware = options["middleware"] = fit_to_agent(options["middleware"], known.by_name)
    schemas = [getattr(m, "state_schema", AgentState) for m in middleware]
    schemas += [s for t in toolsets_in(sources) if (s := t.state_schema) is not None]
    schema = merge_schemas(
        [*schemas, options["state_schema"] or AgentState], options["message_storage"]
    )
    prompts = options["prompts"] = _prompts(options, schema, templated=uses_templates(settings))
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(
        schema.state,
        options["context_schema"],
        input_schema=input_schema(schema, prompts),
        output_schema=schema.output,
    )
    keys = frozenset(schema.fields) - {"jump_to", "structured_response"}
    check_state_keys(known.by_name.values(), {*schema.fields, *LEDGER_OUTPUTS}, keys)
    plan = _plan(chat_model, sources, schema, _rules(graph, schema, prompts), options)
    for node in plan.nodes:
        runner: Any = AgentNode(plan, node)
        graph.add_node(
            node, runner, destinations=_destinations(node, plan), input_schema=schema.shown
        )
    graph.add_edge(START, MODEL)
    return _compile(graph, plan, options)


def _prompts(options: Mapping[str, Any], schema: MergedSchema, *, templated: bool) -> Prompts:
    prompts = Prompts.of(
        options["system_prompt"],
        options["user_prompt"],
        options["required_variables"],
        templated=templated,
    )
    prompts.check_names({*schema.fields, *RESERVED_KEYS}, RUN_PARAMETERS)
    return prompts


def _by_name(name: str) -> BaseChatModel:
    from .models.registry import init_chat_model  # noqa: PLC0415 - only names need it

    return check_model(init_chat_model(name))


# Middleware that asks a model of its own may be given it by name, too.
resolve_names_with(_by_name)


def _model(model: str | BaseChatModel) -> BaseChatModel:
    return _by_name(model) if isinstance(model, str) else check_model(model)


def _plan(
    model: BaseChatModel,
    sources: Sources,
    schema: MergedSchema,
    rules: KeyRules,
    options: dict[str, Any],
) -> AgentPlan:
    """Everything that the runs of the agent share."""
    known, live = options["known_tools"], live_tools(sources)
    tools = known if live is None else offered_first(sources)
    # A plain toolset may be added to, one that is not loaded may hold anything.
    later = live is not None or (options["takes_options"] and not tools.by_name)
    fixed = None if later else known.by_name
    hooks = with_run_hooks(collect_hooks(options["middleware"]), options["hooks"], fixed)
    hooks = hooks.keeping(schema.private)
    layers = hooks.wraps["wrap_tool_call"]
    output = OutputPlan.from_response_format(options["response_format"])
    output.check_tool_names(known.by_name)
    if tools.offered and not hooks.wraps["wrap_model_call"]:
        # A layer may put another model in its place.
        check_takes_tools(model)
    exits = exit_rules(known, options, open_ended=bool(layers) or later)
    exits = replace(exits, calls_tools=bool(tools.by_name or layers or live))
    stores = options["checkpointer"] is not None and options["checkpointer"] is not False
    may_pause = stores or bool(options["interrupt_before"])
    annotations = [field.annotation for field in schema.fields.values()]
    policy = ToolPolicy(
        on_error=options["on_tool_error"], concurrency_limit=options["tool_concurrency_limit"]
    )
    return AgentPlan(
        model=model,
        system_message=options["prompts"].fixed_system,
        binder=ModelBinder(
            list(tools.by_name),
            _supports,
            open_ended=bool(layers),
        ),
        executor=ToolExecutor(tools, layers, policy),
        hooks=hooks,
        exits=exits,
        schema=schema,
        rules=rules,
        nodes=_nodes(exits, hooks, takes_tools=options["takes_options"]),
        output=output,
        name=options["name"],
        prompts=options["prompts"],
        keeps_options=options["takes_options"] and may_pause,
        own_tools=options["own_tools"],
        added_tools=sources[:-1],
        live=live,
        storable=declared_types([*annotations, *output.schemas]),
        state_keys=frozenset(schema.fields) - {"jump_to", "structured_response"},
        defaults={k: f.default for k, f in schema.fields.items() if f.default is not None},
    )


def _supports(*args: Any, **kwargs: Any) -> bool:
    """Whether a model gives structured answers natively; looked up anew at each call."""
    return _supports_provider_strategy(*args, **kwargs)


def _compile(
    graph: StateGraph[Any, Any, Any, Any], plan: AgentPlan, options: dict[str, Any]
) -> AgentGraph:
    compiled = graph.compile(
        checkpointer=strict_checkpointer(options["checkpointer"], plan.storable),
        store=options["store"],
        cache=options["cache"],
        interrupt_before=options["interrupt_before"],
        interrupt_after=options["interrupt_after"],
        debug=options["debug"],
        name=plan.name,
        transformers=_transformers(options),
    )
    hidden = plan.schema.private.union(ENGINE_KEYS, plan.prompts.variables)
    compiled.stream_channels = [k for k in compiled.stream_channels_list if k not in hidden]
    admission = Admission(options["middleware"], plan.schema.private)
    beside: list[Beside] = [set_aside] if admission else []
    if plan.keeps_options:
        beside.append(partial(options_to_store, plan))
    if beside:
        start = compiled.nodes[START]
        writers = cast("list[Any]", start.flat_writers)
        compiled.nodes[START] = start.copy({"writers": [WriteBeside(writers, beside)]})
    agent = AgentGraph.of(compiled, _input_check(plan), plan.storable, admission)
    metadata = {AGENT_NAME: plan.name} if plan.name is not None else {}
    return agent.with_config({"recursion_limit": DEFAULT_RECURSION_LIMIT, "metadata": metadata})


def _input_check(plan: AgentPlan) -> InputCheck:
    prompts = plan.prompts
    if prompts.variables or prompts.user is not None:
        return PromptedInput(plan.schema, prompts)
    return InputCheck(plan.schema)


def _sources(middleware: Sequence[Any], own: Sequence[Any]) -> list[tuple[str, Sequence[Any]]]:
    """The tools of each middleware, and the agent's own at the end."""
    added = [
        (f"middleware {middleware_name(m)!r}", list(getattr(m, "tools", None) or ()))
        for m in middleware
    ]
    return [*added, ("the agent", own)]


def _rules(
    graph: StateGraph[Any, Any, Any, Any], schema: MergedSchema, prompts: Prompts
) -> KeyRules:
    """How each key takes an update: with the channels that langgraph made of the schema."""
    channels = dict(cast("dict[str, Any]", graph.channels))
    validators = {
        key: adapter
        for key, field in schema.fields.items()
        if field.validated and (adapter := field.adapter()) is not None
    }
    hidden = frozenset({*ENGINE_KEYS, *LEDGER_OUTPUTS, "updated_by", *prompts.variables})
    return KeyRules(channels, validators, hidden, schema.private)


def _nodes(exits: ExitRules, hooks: HookPlan, *, takes_tools: bool) -> tuple[str, ...]:
    nodes = [MODEL]
    if exits.calls_tools or takes_tools:
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
    return (MODEL, END)


def _transformers(options: dict[str, Any]) -> list[Any]:
    """Stream projections in order, exact repeats dropped."""
    found = [t for m in options["middleware"] for t in getattr(m, "transformers", None) or ()]
    unique: list[Any] = []
    own = (ToolCallTransformer, SubagentTransformer)
    for transformer in (*own, *found, *(options["transformers"] or ())):
        if not any(transformer is known for known in unique):
            unique.append(transformer)
    return unique
