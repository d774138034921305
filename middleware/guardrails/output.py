"""A guardrail on what the model answers."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage

from ..flows import Flow, flow_layer
from ..redaction.guarded_request import GuardedRequest
from ..redaction.quiet_model import QuietModels
from ..request import ModelRequest, ModelResponse
from .check import GuardedCheck
from .kept import Record, key_of, record
from .reply import ReplyGuardrail, with_ids
from .said import parts, with_part
from .verdict import Verdict, block

_INVALID = "The answer was changed so that it cannot be used."


class OutputGuardrail(ReplyGuardrail):
    """Checks the text of each reply, inside the model call.

    What is blocked or revised reaches neither the state nor a checkpoint, and streams of tokens
    show a reply only when it has passed, whole. A blocked reply is replaced by the reason, with
    its tool calls, and the run ends. A reply that a person is to be asked about is stored,
    because the question may wait for days; its tool calls wait too.

    A structured answer is checked as its JSON text. If it is blocked there is no
    ``structured_response``. If it is revised the new text must be valid for the class of the
    answer, a pydantic model or a dataclass; everything else blocks.

    It does not see reasoning, pictures, arguments of tool calls, what the ``custom`` stream shows
    of an unfinished structured answer, nor a trace, which hears the reply from the model.
    """

    def __init__(self, name: str, check: GuardedCheck) -> None:
        super().__init__(name, check)
        self._models = QuietModels()

    def _guarded(self, request: ModelRequest[Any]) -> Flow[Any]:
        """Check the reply."""
        response: ModelResponse[Any] = yield GuardedRequest.of(request, self._models)
        questions: dict[str, Record] = {}
        changed = with_ids(response)
        for part in parts(response):
            verdict = yield from self._check.verdict(part.text)
            if verdict.kind == "revise":
                revised = with_part(changed, part, verdict.value)
                if revised is None:
                    verdict = block(_INVALID)
                else:
                    changed = revised
            if verdict.kind == "block":
                return self._blocked(response, verdict)
            if verdict.kind == "ask":
                ident = changed.result[part.message].id
                key = key_of(ident, part.call, part.text)
                questions[key] = record(verdict, ident, part.text)
        return self._answer(changed, questions)

    wrap_model_call, awrap_model_call = flow_layer(_guarded)

    def _blocked(self, response: ModelResponse[Any], verdict: Verdict) -> ModelResponse[Any]:
        replies = [m for m in response.result if isinstance(m, AIMessage)]
        return ModelResponse([self._refusal(verdict, replies[-1])])
