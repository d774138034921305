"""Results of tools, screened for text that gives the model orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, NotRequired, cast

from langchain_core.messages import BaseMessage, ToolCall, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from ..state.errors import ConfigurationError
from ..state.schema import AgentState, OmitFromInput
from ..tools.failures import failed_message, failure_words
from .base import AgentMiddleware
from .classifier import Classifier, Verdict
from .flows import Flow, flow_layer
from .injection_notes import CALL, MARK, marked, withheld
from .injection_patterns import injection_signs
from .injection_review import hold, review, suspicious, written_by
from .message_text import text_of
from .redaction.vault import merge_vaults
from .result_messages import each_message

Action = Literal["mark", "quarantine", "ask"]


class ScreenState(AgentState[Any]):
    """State of an agent whose tool results are screened."""

    quarantine: NotRequired[Annotated[dict[str, str], OmitFromInput, merge_vaults]]
    """Withheld results by the id of their call."""


class InjectionScreenMiddleware(AgentMiddleware[Any, Any, Any]):
    """Looks at what tools return before the model reads it.

    ``mark`` puts every result of the screened tools between fences that the result cannot close,
    with a note that it is data, and a warning if it is suspicious. ``quarantine`` withholds a
    suspicious result; people find it in the result of the run, under ``quarantine``. ``ask``
    pauses the run: a person lets each suspicious result pass or not, by
    ``Command(resume={"<call id>": "allow"})`` or ``"withhold"``; all suspicious results of a step
    come in one interrupt, and the tools are not run again.

    All text of a result is looked at, in documents and search results too, and so are messages of
    other kinds that a tool writes in a ``Command``, and the text of a failure. Of these, harmless
    ones go on as they are, also with ``mark``; a suspicious failure is a result from here on, so
    layers around this one see no exception and a function as ``on_tool_error`` is not asked.

    With ``ask`` a suspicious result is kept from the model, not from people: until it is decided
    about, it stands in the state, and ``updates``, ``values`` and traces show it.

    No screen finds every injection. What limits the harm is what the agent may do: approvals, a
    firewall, no secrets in reach.

    Not covered: content that is no text, such as pictures and files in base64; what a tool writes
    to other state keys, or in a command as a model's reply; a failure that ends the run.

    Args:
        action: What becomes of a result.
        detector: A function of the text or a runnable that flags it, as for moderation; by
            default patterns of known attacks. One that fails makes the result suspicious.
        tools: Names of the tools that are screened; all by default.
        timeout_s: Longest time of a detector's answer, in seconds.

    Raises:
        ConfigurationError: A setting is wrong.
    """

    state_schema = ScreenState

    def __init__(
        self,
        *,
        action: Action = "mark",
        detector: Any = None,
        tools: Iterable[str] | None = None,
        timeout_s: float | None = 10.0,
    ) -> None:
        super().__init__()
        if action not in ("mark", "quarantine", "ask"):
            msg = f"action is {action!r}; give 'mark', 'quarantine' or 'ask'."
            raise ConfigurationError(msg)
        if isinstance(tools, str):
            msg = f"tools is {tools!r}; give a list of tool names."
            raise ConfigurationError(msg)
        self._action = action
        # The default one takes linear time and waits for nothing: it needs no limit and no thread.
        self._detector = None if detector is None else Classifier.of(detector, timeout_s=timeout_s)
        self._quick = self._detector is None and action != "mark"
        """A harmless result stays as it is, and nobody has to be waited for to know."""
        self._tools = None if tools is None else frozenset(tools)
        if action == "ask":
            vars(self)["after_tools"] = self._ask

    def _screen(self, request: ToolCallRequest) -> Flow[Any]:
        """Screen a result, or the text of a failure."""
        call = request.tool_call
        if self._tools is not None and call["name"] not in self._tools:
            return (yield request)
        try:
            result: Any = yield request
        except Exception as error:
            failed = yield from self._failed(request, error)
            if failed is None:
                raise
            return failed
        if self._quick and type(result) is ToolMessage and not injection_signs(text_of(result)):
            return result
        return (yield from self._screened(call, result))

    wrap_tool_call, awrap_tool_call = flow_layer(_screen)

    def _screened(self, call: ToolCall, result: Any) -> Flow[Any]:
        """A result with its messages screened; those of commands too."""
        held: dict[str, str] = {}

        def look(message: BaseMessage) -> Flow[BaseMessage]:
            text = text_of(message)
            if not text and not isinstance(message, ToolMessage):
                return message
            verdict = yield from self._verdict(text)
            return self._treated(call, message, verdict, held)

        return _with_held((yield from each_message(result, look)), held)

    def _failed(self, request: ToolCallRequest, error: Exception) -> Flow[Any]:
        """What takes the place of a failure; None if its text is harmless or nobody reads it."""
        message = failed_message(request, error)
        if message is None:
            return None
        verdict = yield from self._verdict(failure_words(message, error))
        if not verdict.flagged:
            return None
        held: dict[str, str] = {}
        return _with_held(self._treated(request.tool_call, message, verdict, held), held)

    def _verdict(self, text: str) -> Flow[Verdict]:
        if self._detector is None:
            return by_patterns(text)
        return (yield from self._detector.verdict(text))

    def _treated(
        self, call: ToolCall, message: BaseMessage, verdict: Verdict, held: dict[str, str]
    ) -> BaseMessage:
        """A screened message as it goes on; what is withheld is put into ``held``."""
        if self._action == "mark":
            # A message to the model, such as a task that is handed over, is no data.
            is_fenced = verdict.flagged or isinstance(message, ToolMessage)
            return marked(message, verdict, call["name"]) if is_fenced else message
        if not verdict.flagged:
            return message
        if self._action == "quarantine":
            hold(held, written_by(message, call), message)
            return withheld(message, verdict.reason)
        asked = {MARK: verdict.reason, CALL: written_by(message, call)}
        extra = {**message.additional_kwargs, **asked}
        return message.model_copy(update={"additional_kwargs": extra})

    def _ask(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Ask a person about the suspicious results of the last calls."""
        waiting = suspicious(state["messages"])
        return review(waiting) if waiting else None


def by_patterns(text: str) -> Verdict:
    """Whether a text has signs of known attacks."""
    signs = injection_signs(text)
    return Verdict(bool(signs), "; ".join(signs))


def _with_held(result: Any, held: Mapping[str, str]) -> Any:
    if not held:
        return result
    parts = cast("list[Any]", result) if isinstance(result, list) else [result]
    return [Command(update={"quarantine": held}), *parts]
