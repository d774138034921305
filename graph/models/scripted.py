"""A chat model that plays a script: for tests, examples and benchmarks."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, message_chunk_to_message
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import Field, PrivateAttr

from ...state.errors import ConfigurationError
from ...state.model_errors import ScriptError
from .openai_compatible.tools import ToolLike, wire_tool_choice, wire_tools
from .scripted_chunks import chunks_of

Step = AIMessage | str | BaseException | Callable[[list[BaseMessage]], AIMessage | str]
"""What one call gives: a reply, its text, an error to raise, or a function of the messages."""


@dataclass(slots=True)
class _Record:
    """What a model was sent so far. One object: pydantic's private attributes are slow to read."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    requests: list[list[BaseMessage]] = field(default_factory=list[list[BaseMessage]])
    options: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    plays: dict[int, int] = field(default_factory=dict[int, int])
    """How often each step was played, by the step's ``id()``."""


class ScriptedChatModel(BaseChatModel):
    """A chat model that gives the next step of its script at each call and keeps what it was sent.

    It behaves as a provider's model does: it binds tools, streams (text by words, tool calls as
    ``tool_call_chunks``), and never repeats an id. A script that ignores ``tool_choice`` is an
    error, as no provider would answer so. Threads may share it; each call takes one step.

    A message that is played again, because it stands in the script more than once or by
    ``repeat_last``, gets a new message id, and its tool-call ids get a number: ``c1``, then
    ``c1-2``, ``c1-3``. A function chooses the ids of what it returns itself.

    >>> from langchain_core.messages import AIMessage
    >>> asks = AIMessage("", tool_calls=[{"name": "add", "args": {"a": 1, "b": 2}, "id": "c1"}])
    >>> model = ScriptedChatModel([asks, lambda messages: f"The sum is {messages[-1].text}."])
    >>> model.bind_tools([{"name": "add", "description": "Add."}]).invoke("1 + 2?").tool_calls[0]["id"]
    'c1'
    >>> model.invoke([("human", "1 + 2?"), ("human", "3")]).text
    'The sum is 3.'
    >>> [message.text for message in model.requests[0]], model.options[0]["tools"][0]["type"]
    (['1 + 2?'], 'function')

    Args:
        steps: One step per call, in order: an ``AIMessage``, a text, an error to raise, or a
            function that takes the messages and returns a message or a text.
        repeat_last: Play the last step for ever. Otherwise one call too many is an error.
        **fields: Fields of ``BaseChatModel``, such as ``profile`` or ``callbacks``.

    Raises:
        ConfigurationError: A step is none of these, or there is no step to repeat.
    """

    # Left out of repr: langchain-core takes the repr of a model for its traces.
    steps: list[Any] = Field(repr=False)
    """The script."""
    repeat_last: bool = False
    """Whether the last step is played for ever."""

    _record: _Record = PrivateAttr(default_factory=_Record)

    def __init__(self, steps: Sequence[Step], *, repeat_last: bool = False, **fields: Any) -> None:
        script: dict[str, Any] = {"steps": _checked(steps), "repeat_last": repeat_last}
        super().__init__(**fields, **script)
        if repeat_last and not self.steps:
            msg = "repeat_last is set but the script is empty. Give it at least one step."
            raise ConfigurationError(msg)

    @property
    def calls(self) -> int:
        """How many times the model was called."""
        return len(self._record.requests)

    @property
    def requests(self) -> list[list[BaseMessage]]:
        """The messages of each call, oldest first.

        The list is copied at each call, the messages are not: they count as immutable here as
        everywhere in langgraph, and copying them would make a long thread quadratic.
        """
        return self._record.requests

    @property
    def options(self) -> list[dict[str, Any]]:
        """The settings of each call: ``tools`` and ``tool_choice`` in OpenAI's form, and others."""
        return self._record.options

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self,
        tools: Sequence[ToolLike],
        *,
        tool_choice: str | bool | dict[str, Any] | None = None,
        strict: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return this model with tools on offer.

        Args:
            tools: Tools, functions, pydantic or TypedDict classes, or dicts in OpenAI's form.
            tool_choice: ``"auto"``, ``"none"``, ``"required"`` or ``"any"``, a bool, the name
                of a tool, or OpenAI's dict. The script must follow it.
            strict: Kept in the tools' form, as for OpenAI.
            **kwargs: Kept in ``options``.

        Raises:
            ToolDefinitionError: A tool has no readable name or schema, or two share a name.
            ConfigurationError: ``tool_choice`` has no known form, or names another tool.
        """
        wired = wire_tools(tools, strict=strict)
        choice = wire_tool_choice(tool_choice, wired)
        if choice is not None:
            kwargs["tool_choice"] = choice
        return self.bind(tools=wired, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - langchain-core's signature
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._play(messages, stop, kwargs))])

    # A step is played at once, so there is nothing to await and no thread to hop to.
    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - langchain-core's signature
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, **kwargs)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - langchain-core's signature
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in chunks_of(self._play(messages, stop, kwargs)):
            yield ChatGenerationChunk(message=chunk)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - langchain-core's signature
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages, stop, **kwargs):
            yield chunk

    def _play(
        self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]
    ) -> AIMessage:
        record = self._record
        with record.lock:
            position = len(record.requests)
            record.requests.append(list(messages))
            record.options.append({**options, "stop": stop} if stop else options)
            step = self._step(position)
            record.plays[id(step)] = play = record.plays.get(id(step), 0) + 1
        if isinstance(step, BaseException):
            # Without its old traceback, which would grow with each play.
            raise step.with_traceback(None)
        reply = _reply(step, messages, position, play)
        if "tool_choice" in options:
            _check_choice(options["tool_choice"], reply, position)
        return reply

    def _step(self, position: int) -> Any:
        if position < len(self.steps):
            return self.steps[position]
        if self.repeat_last:
            return self.steps[-1]
        msg = (
            f"The script is over: the model was called {position + 1} times, "
            f"{len(self.steps)} calls were expected. Add a step or set repeat_last."
        )
        raise ScriptError(msg, position=position)


def _checked(steps: Sequence[Step]) -> list[Step]:
    if isinstance(steps, str):
        msg = f"steps is the text {steps!r}. Put it into a list."
        raise ConfigurationError(msg)
    for position, step in enumerate(cast("Sequence[object]", steps)):
        known = isinstance(step, AIMessage | str | BaseException) or callable(step)
        if not known or isinstance(step, type):
            msg = (
                f"Step {position} of the script is {step!r}. "
                "Give an AIMessage, a text, an error (not its class) or a function of the messages."
            )
            raise ConfigurationError(msg)
    return list(steps)


def _reply(step: Any, messages: list[BaseMessage], position: int, play: int) -> AIMessage:
    """Return what a step says, as a message of its own that the caller may change."""
    if isinstance(step, str):
        return AIMessage(step)
    if isinstance(step, AIMessage):
        return _copied(step, play)
    said = step(list(messages))
    if isinstance(said, str):
        return AIMessage(said)
    if isinstance(said, AIMessage):
        return _copied(said, 1)
    msg = (
        f"The function at step {position} of the script returned {said!r}. "
        "Return an AIMessage or a text; an async function cannot be a step."
    )
    raise ScriptError(msg, position=position)


def _copied(message: AIMessage, play: int) -> AIMessage:
    if isinstance(message, AIMessageChunk):
        message = cast("AIMessage", message_chunk_to_message(message))
    changes: dict[str, Any] = {} if play == 1 else {"id": None}
    if message.tool_calls:
        changes["tool_calls"] = _numbered(deepcopy(message.tool_calls), play)
    if message.invalid_tool_calls:
        changes["invalid_tool_calls"] = _numbered(message.invalid_tool_calls, play)
    if play > 1 and isinstance(message.content, list):
        changes["content"] = _numbered(message.content, play)
    return message.model_copy(update=changes)


def _numbered(parts: Sequence[Any], play: int) -> list[Any]:
    """Return calls, or content blocks that may be calls, with the play's number in their ids."""
    return [
        {**part, "id": f"{part['id']}-{play}"} if _has_call_id(part) and play > 1 else part
        for part in parts
    ]


def _has_call_id(part: Any) -> bool:
    return (
        isinstance(part, dict)
        and part.get("type") in ("tool_call", "invalid_tool_call", "tool_use")
        and bool(cast("dict[str, Any]", part).get("id"))
    )


def _check_choice(choice: object, reply: AIMessage, position: int) -> None:
    called = [call["name"] for call in (*reply.tool_calls, *reply.invalid_tool_calls)]
    if choice == "none" and called:
        broken = f"tool_choice forbids tool calls, but step {position} calls {called}"
    elif choice in ("required", "any") and not called:
        broken = f"tool_choice forces some tool call, but step {position} calls none"
    elif isinstance(choice, dict) and (name := _forced(choice)) and name not in called:
        broken = f"tool_choice forces a call of {name!r}, but step {position} calls {called}"
    else:
        return
    msg = f"The script does not follow its orders: {broken}. Change the step."
    raise ScriptError(msg, position=position)


def _forced(choice: Any) -> Any:
    return choice.get("function", choice).get("name")
