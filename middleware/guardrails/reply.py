"""What the guardrails around a model call share: they act on a reply before anybody sees it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolMessage
from langgraph.types import Command

from ...state.history import last_ai_message
from ..base import hook_config
from ..request import ExtendedModelResponse, ModelResponse
from .guard import CheckedMiddleware, Update
from .kept import Record, Records
from .verdict import Verdict

_MARK = "interlock_guardrail"
"""Key of ``response_metadata`` under which a reply names the guardrail that put it there."""


class ReplyGuardrail(CheckedMiddleware):
    """A layer around the model, and a hook behind it that ends the run or asks a person."""

    withholds_replies = True

    @hook_config(can_jump_to=["end"], quick=True)
    def after_model(self, state: Any, runtime: Any) -> Update:  # noqa: ARG002
        """End the run behind a reply that was replaced; ask what a check wants asked."""
        messages = cast("list[BaseMessage]", state["messages"])
        found = last_ai_message(messages)
        if found is not None and found[1].response_metadata.get(_MARK) == self._owner:
            return {"stop_run": self._name}
        questions = {k: r for k, r in self._records(state).items() if r["kind"] == "ask"}
        if not questions or found is None:
            return None
        answered = self._keep(dict.fromkeys(questions))
        for stored in questions.values():
            verdict = self._person(stored)
            if verdict.kind == "block":
                changed = self._besides(messages, stored) + self._without(
                    messages[found[0] :], verdict
                )
                update = {**answered, "messages": changed, "stop_run": self._name}
                if state.get("structured_response") is not None:
                    update["structured_response"] = None
                return update
        return answered

    def _without(self, reply: Sequence[BaseMessage], verdict: Verdict) -> list[BaseMessage]:
        """What takes the place of a reply that a person refused; results of its calls go too."""
        results = [m for m in reply[1:] if isinstance(m, ToolMessage)]
        refusal = self._refusal(verdict, cast("AIMessage", reply[0]))
        return [refusal, *(RemoveMessage(cast("str", m.id)) for m in results)]

    def _besides(self, messages: Sequence[BaseMessage], stored: Record) -> list[BaseMessage]:  # noqa: ARG002
        """Further messages that change where a person refused."""
        return []

    def _refusal(self, verdict: Verdict, reply: AIMessage | None) -> AIMessage:
        """The reason in the place of a reply, which was paid for all the same."""
        if reply is None:
            return AIMessage(verdict.reason, response_metadata={_MARK: self._owner})
        return AIMessage(
            verdict.reason,
            id=reply.id,
            name=reply.name,
            usage_metadata=reply.usage_metadata,
            response_metadata={_MARK: self._owner},
        )

    def _answer(self, response: ModelResponse[Any], records: Records) -> Any:
        """A response with records that are to be kept beside it."""
        if not records:
            return response
        return ExtendedModelResponse(response, Command(update=self._keep(records)))


def with_ids(response: ModelResponse[Any]) -> ModelResponse[Any]:
    """A response whose replies have the ids that the state will know them by."""
    if all(m.id for m in response.result if isinstance(m, AIMessage)):
        return response
    named = [
        m.model_copy(update={"id": str(uuid.uuid4())})
        if isinstance(m, AIMessage) and not m.id
        else m
        for m in response.result
    ]
    return ModelResponse(named, response.structured_response)
