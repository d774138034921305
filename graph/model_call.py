"""One model call: the request, the layers around it, the bound model, the reading of its reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from ..middleware.request import ModelRequest, ModelResponse
from ..middleware.tracing import traced_layer
from ..state.errors import InvalidResponseError, RunError
from ..state.history import repair_history, with_clean_calls
from ..tools.calls import Calls
from ..tools.layers import Layer, LayerStack
from .binding import Bound, ModelBinder
from .direct_call import may_call_directly
from .paid_replies import PaidReplies
from .partial_stream import PartialStream
from .structured_output import ActiveOutput, Answered, AskAgain, Failed, OutputPlan


@dataclass
class Reply:
    """What one pass through the layers came to."""

    response: ModelResponse[Any]
    updates: list[tuple[str, dict[str, Any]]] = field(
        default_factory=list[tuple[str, dict[str, Any]]]
    )
    """State updates of the layers, each with the layer's name, the innermost first."""


class ModelLayers(LayerStack):
    """The layers around a model call: they see responses, and may add state updates."""

    def shown(self, answer: Reply) -> ModelResponse[Any]:
        """The response of a reply."""
        return answer.response

    def taken(self, layer: Layer, returned: Any, below: Reply | None) -> Reply:
        """What a layer returned, with the updates of those inside it, unless it discards them.

        If it asked several times, only those of the last answer count.
        """
        response, update = read_layer(layer.name, returned)
        updates = [] if below is None else below.updates
        if getattr(returned, "discards_inner", False) is True:
            updates = []
        return Reply(response, [*updates, (layer.name, update)] if update else updates)


@dataclass
class ModelCall:
    """A single request of one step, from the first layer to the model and back."""

    binder: ModelBinder
    layers: Sequence[Layer]
    calls: Calls
    config: RunnableConfig
    observed: bool
    """Callback handlers listen."""
    output: OutputPlan
    with_tools: bool = True
    """Calls of ordinary tools are run; else one is no structured answer, and is refused as such."""
    failures: tuple[str, ...] = ()
    """Why earlier structured answers of this run were refused."""
    name: str | None = None
    """Name that replies get."""
    paid: PaidReplies = field(default_factory=PaidReplies)
    """The replies that the model gave."""
    partials: PartialStream | None = None
    """Shows a structured answer while it is written, where somebody looks."""
    asks_again: bool = False
    """The last reply gave no valid structured answer, and the model is to be told."""
    failed: Failed | None = None
    """Set when no valid structured answer came and none will be asked for."""
    valid: list[BaseMessage] | None = None
    """The messages of the step's request, known to form a valid history."""

    async def run(self, request: ModelRequest[Any]) -> Reply:
        """Send a request through all layers to the model.

        Raises:
            InvalidResponseError: A layer returned something that is no response.
            StructuredOutputError: No valid answer came, and the caller wants to know by error.
        """
        if not self.layers:
            return await self._ask(request)
        self.valid = list(request.messages)
        through = traced_layer if self.observed else None
        stack = ModelLayers(self.layers, self._ask, self.calls, through, flat=not self.observed)
        return cast("Reply", await stack.run(request))

    async def _ask(self, request: ModelRequest[Any]) -> Reply:
        """Call the model itself and read its reply."""
        bound = self.binder.bind(request, self.output)
        messages = self._history(request)
        if request.system_message is not None:
            messages = behind_system(request.system_message, messages)
        reply = self.paid.repeat(bound, messages)
        if reply is None:
            reply = with_clean_calls(as_ai_message(await self._answer(bound, messages)))
            if self.name is not None:
                reply.name = self.name
            self.paid.asked(reply)
        self.asks_again = False
        read = self._read(bound.active, reply) if bound.active else ModelResponse([reply])
        if self.layers:
            self.paid.given(bound, messages, reply)
        return Reply(read)

    async def _answer(self, bound: Bound, messages: list[BaseMessage]) -> Any:
        """What the model gives, asked in the shortest way that shows all that is looked at."""
        # Inside a traced layer the context's config makes the model a child of the layer.
        config = None if self.observed else self.config
        if bound.active is not None and self.partials is not None:
            attempt = len(self.failures) + 1
            model = bound.runnable
            return await self.partials.ask(model, messages, config, bound.active, attempt)
        layered = bool(self.layers)
        if bound.direct and not self.observed and may_call_directly(messages, layered=layered):
            return await self.calls.call(bound.direct, messages)
        return await self.calls.call(bound.public, messages, config)

    def _history(self, request: ModelRequest[Any]) -> list[BaseMessage]:
        """The messages to send: valid, whatever a layer did to them."""
        messages = cast("list[BaseMessage]", request.messages)
        if not self.layers or messages == self.valid:
            return messages
        return repair_history(messages).messages

    def _read(self, active: ActiveOutput, reply: AIMessage) -> ModelResponse[Any]:
        """Take the structured answer out of a reply, or say what is wrong with it."""
        outcome = active.read(reply, self.failures, with_tools=self.with_tools)
        if isinstance(outcome, Answered):
            return ModelResponse([reply, *outcome.messages], outcome.value)
        if isinstance(outcome, AskAgain):
            self.failures = outcome.failures
            self.asks_again = True
            return ModelResponse([reply, *outcome.messages])
        if isinstance(outcome, Failed):
            if outcome.exit_reason is None:
                raise outcome.error
            self.failed = outcome
            return ModelResponse([reply, *outcome.messages])
        return ModelResponse([reply])


def behind_system(system: SystemMessage, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages to send, with one system message in front of them.

    Several providers refuse a second one, so those that a conversation begins with are added to
    the agent's own.
    """
    first = next((n for n, m in enumerate(messages) if not isinstance(m, SystemMessage)), None)
    count = len(messages) if first is None else first
    if not count:
        return [system, *messages]
    contents = [system.content, *(m.content for m in messages[:count])]
    if all(isinstance(c, str) for c in contents):
        return [
            system.model_copy(update={"content": "\n\n".join(map(str, contents))}),
            *messages[count:],
        ]
    blocks = [
        b for c in contents for b in ([{"type": "text", "text": c}] if isinstance(c, str) else c)
    ]
    return [system.model_copy(update={"content": blocks}), *messages[count:]]


def read_layer(owner: str, result: Any) -> tuple[ModelResponse[Any], dict[str, Any]]:
    """What a layer returned, ours or LangChain's: its response, and its update of the state.

    Raises:
        InvalidResponseError: It is no response.
        NotImplementedError: Its command wants more than a state update.
    """
    if type(result) is ModelResponse:
        return result, {}
    if isinstance(result, AIMessage):
        return ModelResponse([result]), {}
    inner = getattr(result, "model_response", None)
    if inner is not None:
        command = getattr(result, "command", None)
        return read_layer(owner, inner)[0], _checked(owner, command)
    if isinstance(result, ModelResponse):
        return cast("ModelResponse[Any]", result), {}
    messages = getattr(result, "result", None)
    if isinstance(messages, list):
        structured = getattr(result, "structured_response", None)
        return ModelResponse(cast("list[BaseMessage]", messages), structured), {}
    msg = (
        f"{owner} returned {type(result).__name__}; a wrap_model_call layer must return a "
        "ModelResponse, an AIMessage or an ExtendedModelResponse."
    )
    raise InvalidResponseError(msg, owner=owner)


def _checked(owner: str, command: Command[Any] | None) -> dict[str, Any]:
    if command is None:
        return {}
    for name in ("goto", "resume", "graph"):
        if getattr(command, name):
            msg = f"Command {name} is not yet supported in wrap_model_call ({owner}); return an update only."
            raise NotImplementedError(msg)
    return dict(cast("Any", command.update) or {})


def as_ai_message(answer: Any) -> AIMessage:
    """A model's answer as a plain AI message of its own."""
    if isinstance(answer, AIMessage):
        return answer
    if isinstance(answer, BaseMessage):
        return AIMessage(content=answer.content, id=answer.id)
    if isinstance(answer, str):
        return AIMessage(answer)
    msg = f"The model answered with {type(answer).__name__}, which is no message."
    raise RunError(msg)
