"""Offering the model only the tools that a model finds fit for the task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Annotated, Any, Literal, NotRequired, cast

from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.tools import BaseTool
from langgraph.types import Command
from pydantic import ValidationError

from ..state.errors import ConfigurationError, StructuredOutputError
from ..state.reducers import replace_values
from ..state.schema import AgentState, PrivateStateAttr
from .base import AgentMiddleware
from .chat_model_check import checked_model
from .flows import Ask, Flow, flow_layer
from .internal_call_transformer import InternalCallTransformer, internal_config
from .model_names import init_chat_model
from .request import ExtendedModelResponse, ModelCallResult, ModelRequest
from .selection_schema import read_selection, selection_schema

DEFAULT_SYSTEM_PROMPT = "Choose the tools that are needed to do what the user asks for."
_ORDERED = (
    "Put the most useful tool first: of a longer answer only the first {count} tools are taken."
)

OnParsingFailure = Literal["error", "none", "all"] | Sequence[str] | Callable[[Any], list[str]]
"""What an unusable answer means: an error, no tool, every tool, these tools, or what a function
of the answer says."""


class ToolSelectionState(AgentState[Any]):
    """The last selection: for which message, among which tools, and which of them."""

    tool_selection: NotRequired[Annotated[dict[str, Any], PrivateStateAttr, replace_values]]


class LLMToolSelectorMiddleware(AgentMiddleware[Any, Any, Any]):
    """Asks a model which tools the task needs and offers the agent's model only those.

    It reads the last human message, or the last message at all if there is none, and the tools'
    descriptions. A selection is kept until another human message comes or the tools change, also
    over an interrupt; ``every_call=True`` makes a new one for each model call instead.

    It does not cover: tools given as dicts, which are always offered; a need that shows only
    later in the run, for which name tools in ``always_include`` or select for every call. A tool
    that is not offered can still be run if the model calls it by name; to forbid a tool use a
    guard around tool calls.
    """

    state_schema = ToolSelectionState
    transformers = (InternalCallTransformer,)

    def __init__(
        self,
        *,
        model: str | BaseChatModel | None = None,
        system_prompt: str = DEFAULT_SYSTEM_PROMPT,
        max_tools: int | None = None,
        always_include: Sequence[str] | None = None,
        max_retries: int = 1,
        on_parsing_failure: OnParsingFailure = "error",
        every_call: bool = False,
    ) -> None:
        """Set how tools are selected.

        Args:
            model: Selects; a chat model or ``"provider:name"``. By default the agent's model.
            system_prompt: What it is told.
            max_tools: Tools that are taken of its answer, at most; None for all.
            always_include: Names of tools that are offered beside the selected ones.
            max_retries: Further attempts when the answer is unusable.
            on_parsing_failure: What an answer that stays unusable means: ``"error"``, ``"none"``,
                ``"all"``, names of tools, or a function that gives names. Not cut by
                ``max_tools``, and not kept for the next model call.
            every_call: Select anew for each model call.

        Raises:
            ConfigurationError: A setting is wrong.
        """
        if isinstance(max_retries, bool) or max_retries < 0:
            msg = f"max_retries must be >= 0, but is {max_retries!r}; give a number of attempts."
            raise ConfigurationError(msg)
        if max_tools is not None and (isinstance(max_tools, bool) or max_tools < 1):
            msg = f"max_tools is {max_tools!r}; give a number from 1 on, or None for no limit."
            raise ConfigurationError(msg)
        words = ("error", "none", "all")
        if isinstance(on_parsing_failure, str) and on_parsing_failure not in words:
            msg = f"on_parsing_failure is {on_parsing_failure!r}; give {', '.join(words)}, names of tools or a function."
            raise ConfigurationError(msg)
        if isinstance(model, str):
            model = init_chat_model(model)
        self.model = None if model is None else checked_model(model, "model")
        self.system_prompt = system_prompt
        self.max_tools = max_tools
        self.always_include = list(always_include or ())
        self.max_retries = max_retries
        self.on_parsing_failure = on_parsing_failure
        self.every_call = every_call
        self._looked_at: tuple[list[Any], list[str], list[BaseTool]] = [], [], []

    def _flow(self, request: ModelRequest[Any]) -> Flow[ModelCallResult] | None:
        """Offer the selected tools.

        Raises:
            ConfigurationError: A tool that is always to be offered is not there.
            StructuredOutputError: The selecting model gave no usable answer.
        """
        choices = self._choices(cast("list[Any]", request.tools))
        return self._selecting(request, choices) if choices and request.messages else None

    wrap_model_call, awrap_model_call = flow_layer(_flow)

    def _choices(self, offered: list[Any]) -> list[BaseTool]:
        """The tools among which is selected; the same ones are looked at once."""
        seen, always, choices = self._looked_at
        if (
            len(seen) == len(offered)
            and all(map(is_, seen, offered))
            and always == self.always_include
        ):
            return choices
        tools = [tool for tool in offered if isinstance(tool, BaseTool)]
        names = {tool.name for tool in tools}
        if missing := [name for name in self.always_include if name not in names]:
            msg = (
                f"Tools in always_include not found in request: {missing}; the tools are "
                f"{sorted(names)}."
            )
            raise ConfigurationError(msg)
        choices = [tool for tool in tools if tool.name not in self.always_include]
        self._looked_at = list(offered), list(self.always_include), choices
        return choices

    def _selecting(self, request: ModelRequest[Any], choices: list[BaseTool]) -> Flow[Any]:
        task = _task_of(cast("list[BaseMessage]", request.messages))
        names = [tool.name for tool in choices]
        mark = {"for": task.id, "among": names}
        kept: dict[str, Any] = request.state.get("tool_selection") or {}
        if not self.every_call and task.id and mark == {k: kept.get(k) for k in mark}:
            return (yield self._offering(request, kept["tools"]))
        selected, answer = yield from self._ask(request, choices, task)
        if selected is None:
            return (yield self._offering(request, self._fall_back(answer, names)))
        response = yield self._offering(request, selected)
        if self.every_call:
            return response
        update = {"tool_selection": {**mark, "tools": selected}}
        return ExtendedModelResponse(response, Command(update=update))

    def _ask(
        self, request: ModelRequest[Any], choices: list[BaseTool], task: BaseMessage
    ) -> Flow[tuple[list[str] | None, Any]]:
        """The selected names, or None and the last unusable answer."""
        model: Any = self.model or request.model
        selecting = model.with_structured_output(selection_schema(choices))
        prompt = self.system_prompt
        if self.max_tools is not None:
            prompt = f"{prompt}\n{_ORDERED.format(count=self.max_tools)}"
        messages = [SystemMessage(prompt), task]
        answer: Any = None
        for _ in range(self.max_retries + 1):
            try:
                answer = yield Ask.model(selecting, messages, internal_config("tool_selection"))
            except (OutputParserException, ValidationError) as error:
                answer = str(error)
                continue
            names = read_selection(answer, choices)
            if names is not None:
                return names[: self.max_tools], answer
        return None, answer

    def _fall_back(self, answer: Any, names: Sequence[str]) -> list[str]:
        choice = self.on_parsing_failure
        if choice == "error":
            msg = (
                f"The selecting model gave a malformed answer {self.max_retries + 1} times, the "
                f"last time {answer!r:.200}; use another model, or set on_parsing_failure."
            )
            raise StructuredOutputError(msg)
        if isinstance(choice, str):
            return list(names) if choice == "all" else []
        return list(choice(answer) if callable(choice) else choice)

    def _offering(self, request: ModelRequest[Any], names: Sequence[str]) -> ModelRequest[Any]:
        """The request with the named tools, then those always included, then those of the provider."""
        named = [t for t in request.tools if not isinstance(t, dict) and t.name in names]
        always = [
            t for t in request.tools if not isinstance(t, dict) and t.name in self.always_include
        ]
        others = [t for t in request.tools if isinstance(t, dict)]
        return request.override(tools=[*named, *always, *others])


def _task_of(messages: Sequence[BaseMessage]) -> BaseMessage:
    """The last human message; without one the last message's text, as if a person had said it."""
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            return message
    return HumanMessage(messages[-1].text, id=messages[-1].id)
