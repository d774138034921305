"""Binding tools and settings to a model: done once per combination, not once per call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from ..middleware.request import ModelRequest
from ..state.errors import ConfigurationError
from ..tools.calls import Dual
from .direct_call import direct_call
from .structured_output import ActiveOutput, OutputPlan

_REMEMBERED = 16
"""Combinations of model, tools and settings that are kept bound."""


@dataclass(frozen=True)
class Bound:
    """A model with tools and settings."""

    public: Dual
    """``(messages, config)``: through langchain-core, with callbacks and tracing."""
    direct: Dual | None
    """``(messages)``: the model alone, where nobody listens and that is all there is to do."""
    active: ActiveOutput | None
    """How to read the structured answer that is due."""
    runnable: Runnable[Any, Any]
    """The model with its tools and settings."""
    kept: tuple[Any, ...]


class ModelBinder:
    """Gives the runnable for a request, with its tools and settings bound.

    Bound models hold no state of a run, so runs share them.
    """

    def __init__(
        self, known: Sequence[str], supports: Callable[..., bool], *, open_ended: bool
    ) -> None:
        self._supports = supports
        """Whether a model gives structured answers natively beside given tools."""
        self._known = frozenset(known)
        """Names of the tools that the agent can run."""
        self._open_ended = open_ended
        """Layers around tool calls may run tools that the agent does not know."""
        self._bound: OrderedDict[Any, Bound] = OrderedDict()

    def knowing(self, names: Collection[str]) -> ModelBinder:
        """A binder for an agent that can run these tools: this one, if it knows them."""
        if self._known.issuperset(names):
            return self
        return ModelBinder(list(names), self._supports, open_ended=self._open_ended)

    def bind(self, request: ModelRequest[Any], plan: OutputPlan) -> Bound:
        """The model for a request, and how to read the structured answer that is due.

        Raises:
            ConfigurationError: A tool was added that nothing can run, or a structured output
                that the agent was not built with.
        """
        key = self._key(request)
        if key is not None and (hit := self._bound.get(key)) is not None:
            return hit
        self._check_tools(request.tools)
        active = plan.resolve(
            request.response_format, request.model, request.tools, supports=self._supports
        )
        runnable = _bind(request, active)
        # The request's objects stay referenced, so that their ids stay theirs.
        kept = (request.model, tuple(request.tools), request.response_format)
        public = Dual("model", runnable.invoke, runnable.ainvoke)
        bound = Bound(public, direct_call(runnable), active, runnable, kept)
        if key is not None:
            self._bound[key] = bound
            if len(self._bound) > _REMEMBERED:
                self._bound.popitem(last=False)
        return bound

    def _key(self, request: ModelRequest[Any]) -> Any:
        try:
            settings = frozenset(request.model_settings.items())
            choice: Any = request.tool_choice
            hash((settings, choice))
        except TypeError:
            return None
        tools = tuple(map(id, request.tools))
        return id(request.model), tools, id(request.response_format), choice, settings

    def _check_tools(self, tools: Sequence[BaseTool | dict[str, Any]]) -> None:
        if self._open_ended:
            return
        unknown = [t.name for t in tools if not isinstance(t, dict) and t.name not in self._known]
        if unknown:
            msg = (
                f"Middleware added tools that the agent cannot run. Unknown tools: {unknown}. "
                f"Registered tools: {sorted(self._known)}. Give them to create_agent, set AgentMiddleware.tools, or "
                "run them in wrap_tool_call."
            )
            raise ConfigurationError(msg)


def _bind(request: ModelRequest[Any], active: ActiveOutput | None) -> Runnable[Any, Any]:
    model: Any = request.model
    settings = dict(request.model_settings)
    tools: list[Any] = list(request.tools)
    choice = request.tool_choice
    if active is not None:
        tools += active.tools
        settings = {**active.model_kwargs, **settings}
        choice = active.tool_choice(choice)
    if not tools and not (
        active is not None and active.model_kwargs and hasattr(model, "bind_tools")
    ):
        return cast("Runnable[Any, Any]", model.bind(**settings) if settings else model)
    check_takes_tools(model)
    if choice is not None:
        settings["tool_choice"] = choice
    return cast("Runnable[Any, Any]", model.bind_tools(tools, **settings))


def check_takes_tools(model: Any) -> None:
    """Refuse a model that cannot be given tools.

    Raises:
        ConfigurationError: It has no ``bind_tools`` of its own.
    """
    kind = type(cast("object", model))
    bind = getattr(kind, "bind_tools", None) or getattr(model, "bind_tools", None)
    if bind is None or bind is BaseChatModel.bind_tools:
        msg = (
            f"Model {kind.__name__!r} cannot be given tools: it has no bind_tools. Take "
            "another model, or leave out the tools."
        )
        raise ConfigurationError(msg)


def check_model(model: Any) -> BaseChatModel:
    """Refuse what is no chat model.

    A runnable around chat models, such as one with fallbacks, is accepted if it takes tools.

    Raises:
        TypeError: ``model`` is something else.
    """
    kind = type(cast("object", model))
    if issubclass(kind, BaseChatModel) or (
        issubclass(kind, Runnable) and hasattr(model, "bind_tools")
    ):
        return cast("BaseChatModel", model)
    msg = f"model is {kind.__name__!r}; give a chat model or a 'provider:model' string."
    raise TypeError(msg)
