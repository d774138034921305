"""Content that a classifier flags is neither sent to the model nor given to the user."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, NotRequired, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import TracePolicy, omit_payload

from ..state.errors import ConfigurationError
from ..state.guardrail_errors import ModerationError
from ..state.schema import AgentState, PrivateStateAttr
from ..tools.failures import failed_message, failure_words
from .base import AgentMiddleware, hook_config
from .classifier import Classifier, Verdict
from .flows import Flow, adrive, drive, flow_layer
from .message_text import text_of
from .redaction.guarded_request import GuardedRequest
from .redaction.memory import MessageMemory
from .redaction.quiet_model import QuietModels
from .request import ModelRequest, ModelResponse
from .result_messages import each_message
from .tool_filter import error_answer

OnFlagged = Literal["end", "error"]

REFUSAL = "I can't help with that."
REMOVED = "[removed by moderation]"
EXIT_REASON = "moderation"
"""Exit reason of a run that moderation ended."""

_MARK = "interlock_moderated"
_REMEMBERED = 2_000


class ModerationState(AgentState[Any]):
    """State of an agent whose content is moderated."""

    moderation_passed: NotRequired[Annotated[list[str], PrivateStateAttr]]
    """Digests of the texts of users that passed, the latest last."""


class ModerationMiddleware(AgentMiddleware[Any, Any, Any]):
    """Asks a classifier about what users write, what the model answers and what tools return.

    A flagged message of a user is replaced by a note and the run ends with a refusal; a flagged
    reply is replaced by the refusal, with its tool calls, and the run ends; a flagged result of a
    tool is withheld from the model. The exit reason is ``moderation``. Token streams show a reply
    only when it has passed, whole. A classifier that fails, takes too long or cannot be
    understood flags the content.

    Every text of a user is asked about once, in supplied history too, and again if it changes.
    All that is said in a message is one question: text in documents and other blocks, and of a reply
    also thinking and refusals. Asked about with the results of tools are other messages that a tool
    writes in a ``Command``, and the text of a failure; one that is flagged is a result from here on,
    so layers around this one see no exception and a function as ``on_tool_error`` is not asked.

    What this does **not** cover: pictures, and files in base64; arguments of tool calls, and so a
    structured answer that comes in one; a reply that a tool writes in a ``Command``; a failure that
    ends the run; a trace, which hears the reply from the model; text that a classifier takes for
    harmless.

    Args:
        classifier: A function of the text or a runnable; see
            :func:`~interlock.middleware.classifier.read_answer` for the answers it may give.
        check_input: Ask about messages of users.
        check_output: Ask about replies.
        check_tool_results: Ask about results of tools.
        on_flagged: ``end`` ends the run with the refusal, ``error`` raises ``ModerationError``.
        refusal: What the user reads.
        timeout_s: Longest time of an answer in seconds; None for no limit.
        read: Makes the classifier's answer one that is known.

    Raises:
        ConfigurationError: A setting is wrong.
    """

    state_schema = ModerationState
    trace_policy = TracePolicy(process_inputs=omit_payload)
    """Runs of the hooks record nothing of what is still to be checked."""

    def __init__(
        self,
        classifier: Any,
        *,
        check_input: bool = True,
        check_output: bool = True,
        check_tool_results: bool = False,
        on_flagged: OnFlagged = "end",
        refusal: str = REFUSAL,
        timeout_s: float | None = 10.0,
        read: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__()
        if on_flagged not in ("end", "error"):
            msg = f"on_flagged is {on_flagged!r}; give 'end' or 'error'."
            raise ConfigurationError(msg)
        self._classifier = Classifier.of(classifier, timeout_s=timeout_s, read=read)
        self._check_input = check_input
        self._check_output = self.withholds_replies = check_output
        self._on_flagged = on_flagged
        self._refusal = refusal
        self._models = QuietModels()
        self._seen = MessageMemory()
        if check_tool_results:
            results = ResultModeration(self._classifier)
            vars(self)["wrap_tool_call"] = results.wrap_tool_call
            vars(self)["awrap_tool_call"] = results.awrap_tool_call

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Ask about all messages of users that have not passed yet."""
        positions = self._new_in(state, everywhere=True)
        return drive(self._input(state, positions)) if positions else None

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Ask about all messages of users that have not passed yet, on the event loop."""
        positions = self._new_in(state, everywhere=True)
        return await adrive(self._input(state, positions)) if positions else None

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Ask about messages of users that came since."""
        positions = self._new_in(state, everywhere=False)
        return drive(self._input(state, positions)) if positions else None

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Ask about messages of users that came since, on the event loop."""
        positions = self._new_in(state, everywhere=False)
        return await adrive(self._input(state, positions)) if positions else None

    @hook_config(quick=True)
    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """End the run behind a reply that was replaced."""
        last = state["messages"][-1] if state["messages"] else None
        if isinstance(last, AIMessage) and last.response_metadata.get(_MARK):
            return {"stop_run": EXIT_REASON}
        return None

    def _new_in(self, state: Any, *, everywhere: bool) -> list[int]:
        """Positions of the messages that are still to be asked about."""
        if not self._check_input:
            return []
        messages = cast("list[BaseMessage]", state["messages"])
        positions = self._seen.new_in(messages, everywhere=everywhere)
        if any(isinstance(messages[position], HumanMessage) for position in positions):
            return positions
        for position in positions:
            self._seen.add(messages[position])
        return []

    def _input(self, state: Any, positions: Sequence[int]) -> Flow[dict[str, Any] | None]:
        messages = cast("list[BaseMessage]", state["messages"])
        passed: list[str] = list(state.get("moderation_passed") or [])
        known, new = set(passed), list[str]()
        for position in positions:
            message = messages[position]
            text = text_of(message) if isinstance(message, HumanMessage) else ""
            if text and (mark := digest(text)) not in known:
                verdict = yield from self._classifier.verdict(text)
                if verdict.flagged:
                    return self._refuse_input(message, verdict)
                new.append(mark)
                known.add(mark)
            self._seen.add(message)
        return {"moderation_passed": [*passed, *new][-_REMEMBERED:]} if new else None

    def _refuse_input(self, message: BaseMessage, verdict: Verdict) -> dict[str, Any]:
        self._raise_if_wanted("input", verdict)
        removed = message.model_copy(update={"content": REMOVED})
        self._seen.add(removed)
        return {
            "messages": [removed, AIMessage(self._refusal, response_metadata={_MARK: True})],
            "stop_run": EXIT_REASON,
        }

    def _output(self, request: ModelRequest[Any]) -> Flow[Any]:
        """Ask about the reply."""
        if not self._check_output:
            return (yield request)
        response: ModelResponse[Any] = yield GuardedRequest.of(request, self._models)
        for text in [text_of(m) for m in response.result if isinstance(m, AIMessage)]:
            if not text.strip():
                continue
            verdict = yield from self._classifier.verdict(text)
            if verdict.flagged:
                self._raise_if_wanted("output", verdict)
                return ModelResponse([self._refused(response)])
        return response

    wrap_model_call, awrap_model_call = flow_layer(_output)

    def _refused(self, response: ModelResponse[Any]) -> AIMessage:
        reply = next(m for m in response.result if isinstance(m, AIMessage))
        return AIMessage(
            self._refusal,
            id=reply.id,
            name=reply.name,
            usage_metadata=reply.usage_metadata,
            response_metadata={_MARK: True},
        )

    def _raise_if_wanted(self, place: str, verdict: Verdict) -> None:
        if self._on_flagged == "error":
            msg = f"The {place} was flagged by moderation: {verdict.reason}."
            raise ModerationError(msg, reason=verdict.reason, place=place)


class ResultModeration:
    """The layer around tool calls that withholds flagged results.

    Args:
        classifier: What is asked.
    """

    def __init__(self, classifier: Classifier) -> None:
        self._classifier = classifier

    def _result(self, request: ToolCallRequest) -> Flow[Any]:
        """Ask about a result, or the text of a failure."""
        try:
            result: Any = yield request
        except Exception as error:
            failed = failed_message(request, error)
            if failed is None:
                raise
            verdict = yield from self._classifier.verdict(failure_words(failed, error))
            if not verdict.flagged:
                raise
            return _withheld(request, verdict)
        flagged: list[Verdict] = []

        def look(message: BaseMessage) -> Flow[BaseMessage]:
            text = text_of(message)
            if not flagged and text.strip():
                verdict = yield from self._classifier.verdict(text)
                if verdict.flagged:
                    flagged.append(verdict)
            return message

        result = yield from each_message(result, look)
        return _withheld(request, flagged[0]) if flagged else result

    wrap_tool_call, awrap_tool_call = flow_layer(_result)


def _withheld(request: ToolCallRequest, verdict: Verdict) -> ToolMessage:
    text = f"The result of this call was withheld by moderation: {verdict.reason}."
    return error_answer(request, text)


def digest(text: str) -> str:
    """A short name of a text that no other text has."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
