"""Editing the messages that a model is sent, without changing the conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Annotated, Any, Literal, NotRequired, Protocol, cast

from langchain_core.messages import BaseMessage
from langchain_core.messages.utils import count_tokens_approximately
from langgraph.types import Command

from ..state.errors import ConfigurationError
from ..state.schema import AgentState, PrivateStateAttr
from .base import AgentMiddleware
from .clear_tool_uses import ClearToolUsesEdit, Copies
from .flows import Flow, flow_layer
from .request import ExtendedModelResponse, ModelRequest, ModelResponse
from .token_counts import ContextMeter, TokenCounter

__all__ = ["ClearToolUsesEdit", "ContextEdit", "ContextEditingMiddleware"]


class ContextEdit(Protocol):
    """Changes the messages of a request.

    An edit that only puts other messages into the list says so with
    ``replaces_messages = True``; any other is given deep copies.
    """

    def apply(self, messages: list[Any], *, count_tokens: TokenCounter) -> None:
        """Edit the list in place.

        Args:
            messages: The messages of a request, oldest first.
            count_tokens: Counts messages.
        """
        ...


def _merged(old: dict[str, str] | None, new: dict[str, str]) -> dict[str, str]:
    return {**(old or {}), **new}


class ContextEditingState(AgentState[Any]):
    """The state of an agent whose requests are edited."""

    context_edits: NotRequired[Annotated[dict[str, str], PrivateStateAttr, _merged]]
    """How far each edit has got: id of the last tool result that it cleared."""


class ContextEditingMiddleware(AgentMiddleware[Any, Any, Any]):
    """Takes old tool results out of requests that have grown too large; the thread keeps them.

    What was cleared stays cleared, and nothing more is until the edited request has outgrown the
    limit again. So a request begins like the one before it for many turns, and a provider's
    prompt cache holds. How far clearing has got is kept with the thread.

    Below the limit nothing is copied and only new messages are counted, or none where the model
    reports its usage; ``token_count_method="model"`` counts the whole request where it does not.

    It does not shorten anything but tool results and the arguments of their calls, and does not
    keep a request below the limit if what must stay is larger.
    """

    state_schema = ContextEditingState

    def __init__(
        self,
        *,
        edits: Iterable[ContextEdit] | None = None,
        token_count_method: Literal["approximate", "model"] = "approximate",  # noqa: S107 - no secret
        token_counter: TokenCounter | None = None,
    ) -> None:
        """Make the middleware.

        Args:
            edits: Applied in order; by default one ``ClearToolUsesEdit()``. An edit of one's own
                is applied to each request.
            token_count_method: Count by the length of the text, or ask the model, which takes in
                the system prompt and the tools.
            token_counter: Counts in place of either.

        Raises:
            ConfigurationError: An edit cannot be applied, or the method is unknown.
        """
        self.edits: list[ContextEdit] = list(edits or (ClearToolUsesEdit(),))
        for edit in self.edits:
            if not callable(getattr(edit, "apply", None)):
                msg = f"edits holds {edit!r}, which has no method apply; see ContextEdit."
                raise ConfigurationError(msg)
        exact = {"approximate": False, "model": True}.get(token_count_method)
        if exact is None:
            msg = f"token_count_method is {token_count_method!r}; give 'approximate' or 'model'."
            raise ConfigurationError(msg)
        self.token_count_method = token_count_method
        self.token_counter = token_counter
        self._exact = exact and token_counter is None
        self._copies = Copies()
        self._meter = ContextMeter(token_counter or count_tokens_approximately)

    def _flow(self, request: ModelRequest[Any]) -> Flow[Any] | None:
        """Send the edited request."""
        edited, progress = self._edited(request)
        return None if edited is request and not progress else self._sent(edited, progress)

    wrap_model_call, awrap_model_call = flow_layer(_flow)

    def _sent(
        self, edited: ModelRequest[Any], progress: dict[str, str]
    ) -> Flow[ModelResponse[Any] | ExtendedModelResponse[Any]]:
        response: ModelResponse[Any] = yield edited
        if not progress:
            return response
        return ExtendedModelResponse(response, Command(update={"context_edits": progress}))

    def _edited(self, request: ModelRequest[Any]) -> tuple[ModelRequest[Any], dict[str, str]]:
        """The request to send, and how far edits have got that went further than before."""
        messages: list[Any] = request.messages
        done: Mapping[str, str] = request.state.get("context_edits") or {}
        progress: dict[str, str] = {}
        for number, edit in enumerate(self.edits):
            if isinstance(edit, ClearToolUsesEdit):
                key = f"{number}:{edit.trigger}:{edit.keep}"
                messages, last = self._cleared(edit, messages, done.get(key), request)
                if last is not None:
                    progress[key] = last
            elif messages:
                replaces = getattr(edit, "replaces_messages", False)
                messages = list(messages) if replaces else deepcopy(list(messages))
                edit.apply(messages, count_tokens=self._counter(request))
        if messages is request.messages:
            return request, progress
        return request.override(messages=messages), progress

    def _cleared(
        self,
        edit: ClearToolUsesEdit,
        messages: list[BaseMessage],
        last: str | None,
        request: ModelRequest[Any],
    ) -> tuple[list[BaseMessage], str | None]:
        """The messages as they were sent a turn ago, cleared further if they are too large."""
        if last is not None:
            messages = edit.clear_up_to(messages, last, self._copies) or messages
        if not self._exceeds(messages, edit.trigger, last or "", request):
            return messages, None
        further = list(messages)
        reached = edit.clear(further, self._counter(request), self._copies)
        changed = any(a is not b for a, b in zip(further, messages, strict=True))
        return (further, reached) if changed else (messages, None)

    def _exceeds(
        self, messages: list[BaseMessage], limit: int, view: str, request: ModelRequest[Any]
    ) -> bool:
        """Whether a request is too large; counted in full only before something is cleared."""
        if not messages:
            return False
        if self._exact:
            size = self._meter.reported(messages)
            return (self._counter(request)(messages) if size is None else size) > limit
        most = self._meter.at_most(messages)
        if (most is not None and most <= limit) or self._meter.estimate(messages, view) <= limit:
            return False
        return self._meter.confirm(messages, view) > limit

    def _counter(self, request: ModelRequest[Any]) -> TokenCounter:
        if not self._exact:
            return self._meter.counter
        system = [request.system_message] if request.system_message else []

        def count(messages: Sequence[BaseMessage]) -> int:
            counted: Any = request.model.get_num_tokens_from_messages
            return int(counted([*system, *messages], cast("Any", request.tools)))

        return count
