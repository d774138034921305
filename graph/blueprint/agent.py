"""``Agent``: settings as a value that runs, is copied, and is written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any, Self, Unpack, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import SystemMessage
from langchain_core.runnables import RunnableConfig

from ...state.errors import ConfigurationError
from ...state.exit_reasons import EXIT_TEXT
from ...tools.calls import AWAITING, BLOCKING, Calls, Dual, run_inline
from ...tools.definition import ToolLike
from ...tools.selection import Wanted
from ...tools.toolset import Toolset
from ..agent import build_agent
from ..compiled import AgentGraph
from ..models.model_spec import ModelSpec
from ..models.scripted import ScriptedChatModel
from ..node import plan_of
from ..run_options import RunOptions
from ..settings import RUN_PARAMETERS
from .arguments import RunArguments
from .chunks import MODES, StreamingCallback, dual_of, listen
from .lifecycle import CLOSE, WARM_UP, call_each, parts_of
from .settings import OWN_DEFAULTS, BlueprintSettings, check_names, copied, graph_settings
from .storable import Storable

_MISSING: Any = object()
"""No model is given; what is given instead may have the name that Haystack uses."""


class Agent(Storable):
    """An agent as a value: made of settings, run with options, copied, saved and read back.

    >>> from interlock.graph.models import ScriptedChatModel
    >>> translator = Agent(
    ...     model=ScriptedChatModel(["Bonjour !"]),
    ...     system_prompt="You translate into {{ language }}.",
    ...     user_prompt="Translate: {{ text }}",
    ... )
    >>> translator.run(language="French", text="Hello!")["last_message"].text
    'Bonjour !'

    Args:
        model: A chat model; or ``"provider:name"`` or a ``ModelSpec``, which are looked up when
            the model is first needed.
        tools: As of :func:`~interlock.graph.create_agent`.
        **settings: See :class:`BlueprintSettings`. Prompts given as text are templates.

    Raises:
        ConfigurationError: A setting is wrong; the message names it.
        TypeError: A name is no setting, or there is no model.
    """

    def __init__(
        self,
        *,
        model: str | ModelSpec | BaseChatModel = _MISSING,
        tools: Toolset | Sequence[ToolLike | Toolset] | None = None,
        **settings: Unpack[BlueprintSettings],
    ) -> None:
        check_names(settings)
        if model is _MISSING:
            msg = "Agent needs a model: a chat model, or a name like 'openai:gpt-5-mini'."
            raise TypeError(msg)
        self._given: dict[str, Any] = copied({"model": model, "tools": tools, **settings})
        self._making = Lock()
        self._graph: AgentGraph | None = None
        self._is_warm = False
        if isinstance(model, (str, ModelSpec)):
            # Everything but the model is checked now; a name may need a key that comes later.
            self._check(self._build(_stand_in(model)))
        else:
            self._check(self.compile())

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as they were given, in containers of their own."""
        return cast("dict[str, Any]", copied(self._given))

    @property
    def name(self) -> str | None:
        """The agent's name."""
        return cast("str | None", self._given.get("name"))

    def __repr__(self) -> str:
        model = self._given["model"]
        kind = model if isinstance(model, str) else getattr(model, "name", None)
        return f"Agent(name={self.name!r}, model={kind or type(model).__name__})"

    def compile(self) -> AgentGraph:
        """The graph, made once: stream it, serve it, or use it as a node of a larger graph.

        Raises:
            ConfigurationError: The model's name means nothing here.
        """
        with self._making:
            if self._graph is None:
                model = self._given["model"]
                self._graph = self._build(model.build() if isinstance(model, ModelSpec) else model)
            return self._graph

    def draw(self, *, hooks: bool = False) -> str:
        """The graph as Mermaid text; a model that is given by name is not looked up for it."""
        return self._picture_of().draw(hooks=hooks)

    def draw_svg(self, *, hooks: bool = False) -> str:
        """The graph as an SVG image; see :meth:`draw`."""
        return self._picture_of().draw_svg(hooks=hooks)

    def run(
        self,
        messages: Any = None,
        *,
        streaming_callback: StreamingCallback | None = None,
        generation_kwargs: Mapping[str, Any] | None = None,
        tools: Wanted | None = None,
        system_prompt: str | SystemMessage | None = None,
        context: Any = None,
        thread_id: str | None = None,
        config: RunnableConfig | None = None,
        **inputs: Any,
    ) -> dict[str, Any]:
        """Run the agent.

        A run that pauses keeps its options: resume it with ``run(Command(resume=...),
        thread_id=...)``, with other options where they are to change.

        Args:
            messages: What is said: messages, or the text of one. May be left out if there is a
                user prompt, which is put behind them. ``Command(resume=...)`` answers a pause,
                ``Command()`` goes on after a breakpoint or a failure.
            streaming_callback: In place of the agent's own.
            generation_kwargs: Arguments of each model call; they win over those of the model,
                key by key.
            tools: Names of the agent's tools, to use only these; or other tools, to use these
                instead, which are warmed up here and closed by the caller. The tools of
                middleware stay.
            system_prompt: In place of the agent's, as it stands; an empty text means none.
            context: For hooks and tools, never stored.
            thread_id: The thread that the run goes on with, where there is a checkpointer.
            config: Further config, such as callbacks.
            **inputs: State keys and template variables.

        Returns:
            The result: ``messages``, ``last_message``, ``exit_reason``, ``exit_message``,
            ``step_count``, ``token_usage``, ``tool_call_counts`` and the keys of the state.

        Raises:
            InvalidInputError: The input cannot be accepted; nothing has run.
        """
        given = RunArguments(
            messages,
            inputs,
            streaming_callback,
            generation_kwargs,
            tools,
            system_prompt,
            context,
            thread_id,
            config,
        )
        return run_inline(self._run(BLOCKING, given), "run")

    async def arun(self, messages: Any = None, **options: Any) -> dict[str, Any]:
        """:meth:`run` on an event loop, with the same arguments."""
        given = {k: v for k, v in options.items() if k in RUN_PARAMETERS}
        inputs = {k: v for k, v in options.items() if k not in RUN_PARAMETERS}
        return await self._run(AWAITING, RunArguments(messages=messages, inputs=inputs, **given))

    def clone(self, **overrides: Any) -> Self:
        """An agent with the same settings, some of them replaced.

        Lists and dicts are copied, so neither agent changes the other; models, tools and
        middleware are shared.

        Raises:
            TypeError: A name is no setting.
        """
        return type(self)(**{**self.settings, **overrides})

    def warm_up(self) -> None:
        """Prepare the model, tools, middleware and hooks that have a ``warm_up``, each once.

        A run does it if it was not done before.
        """
        run_inline(self._warm_up(BLOCKING), "warm_up")

    async def awarm_up(self) -> None:
        """:meth:`warm_up` on an event loop."""
        await self._warm_up(AWAITING)

    def close(self) -> None:
        """Release what the model, tools, middleware and hooks hold, each once."""
        run_inline(self._close(BLOCKING), "close")

    async def aclose(self) -> None:
        """:meth:`close` on an event loop."""
        await self._close(AWAITING)

    def __enter__(self) -> Self:
        self.warm_up()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        await self.awarm_up()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _run(self, calls: Calls, given: RunArguments) -> dict[str, Any]:
        graph = self.compile()
        callback = given.streaming_callback or self._setting("streaming_callback")
        told = None if callback is None else dual_of(callback, synchronous=calls.synchronous)
        options = self._options(graph, given)
        value, config = given.input_of(graph), given.config_for(options)
        if not self._is_warm:
            await self._warm_up(calls)
        if given.tools is not None and not isinstance(given.tools, str):
            await call_each(calls, parts_of(None, {"tools": given.tools}), WARM_UP)
        context = {} if given.context is None else {"context": given.context}
        if told is None:
            invoke = partial(graph.invoke, config=config, **context)
            ainvoke = partial(graph.ainvoke, config=config, **context)
            result = await calls.call(Dual("run", invoke, ainvoke), value)
        else:
            begin = graph.stream if calls.synchronous else graph.astream
            stream = begin(
                value, config, stream_mode=MODES, output_keys=graph.output_channels, **context
            )
            results = self._setting("stream_tool_results")
            result = await listen(calls, stream, told, tool_results=results)
        return _with_last_message(result)

    def _options(self, graph: AgentGraph, given: RunArguments) -> RunOptions | None:
        if not given.has_options:
            return None
        options = RunOptions(
            plan_of(graph), given.generation_kwargs, given.tools, given.system_prompt
        )
        if graph.checkpointer:
            options.check_storable()
        return options

    async def _warm_up(self, calls: Calls) -> None:
        await call_each(calls, parts_of(plan_of(self.compile()).model, self._given), WARM_UP)
        self._is_warm = True

    async def _close(self, calls: Calls) -> None:
        # A model that was never looked up holds nothing.
        model = None if self._graph is None else plan_of(self._graph).model
        self._is_warm = False
        await call_each(calls, parts_of(model, self._given), CLOSE)

    def _picture_of(self) -> AgentGraph:
        """The graph without a place for tools that only a run may bring."""
        model = self._given["model"]
        named = _stand_in(model) if isinstance(model, (str, ModelSpec)) else model
        later = {*(self._given.get("exit_conditions") or ())} - {EXIT_TEXT}
        return self._build(named, takes_options=bool(later))

    def _setting(self, name: str) -> Any:
        return self._given.get(name, OWN_DEFAULTS[name])

    def _build(self, model: str | BaseChatModel, *, takes_options: bool = True) -> AgentGraph:
        settings = graph_settings(self._given)
        return build_agent(model, self._given["tools"], settings, takes_options=takes_options)

    def _check(self, graph: AgentGraph) -> None:
        taken = RUN_PARAMETERS.intersection(plan_of(graph).schema.fields)
        if taken - {"messages"}:
            name = min(taken)
            msg = f"State key {name!r} is the name of a parameter of run; choose another name."
            raise ConfigurationError(msg)


def _stand_in(model: str | ModelSpec) -> BaseChatModel:
    """A model that is never called, for pictures and checks: its class has the model's name."""
    name = model.name if isinstance(model, ModelSpec) else model
    kind = type(name, (ScriptedChatModel,), {"__module__": __name__})
    return cast("BaseChatModel", kind([]))


def _with_last_message(result: Any) -> dict[str, Any]:
    values = cast("dict[str, Any]", result)
    if messages := values.get("messages"):
        values.setdefault("last_message", messages[-1])
    return values
