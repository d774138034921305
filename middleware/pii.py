"""Sensitive data kept from models, streams, traces and storage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.types import Command, TracePolicy, omit_payload

from ..state.errors import ConfigurationError
from ..state.guardrail_errors import PIIDetectionError
from .base import AgentMiddleware, hook_config
from .flows import Flow, flow_layer
from .redaction.builtin import BUILTIN_DETECTORS
from .redaction.guarded_request import GuardedRequest, ModelGuards
from .redaction.lookback import LOOKBACK
from .redaction.looking import look
from .redaction.memory import MessageMemory
from .redaction.redactor import FOUND, Redactor
from .redaction.rule import MAX_CHARS, RedactionRule
from .redaction.strategy import RedactionStrategy
from .redaction.tool_results import ToolResults, withheld
from .redaction.transformer import PIIStreamTransformer
from .redaction.vault import VaultState, restored_answer
from .request import ExtendedModelResponse, ModelRequest, ModelResponse

BuiltinPII = Literal["api_key", "credit_card", "email", "iban", "ip", "mac_address", "phone", "url"]


class PIIMiddleware(AgentMiddleware[Any, Any, Any]):
    """Finds one kind of sensitive data and refuses, removes, masks, hashes or puts it aside.

    All messages are looked at, those of earlier turns too, each once: text, content blocks,
    arguments of tool calls, results of tools and their artifacts. Replies of the model are
    changed inside the model call, so token streams, ``updates``, ``values`` and traces of the
    model show only what is left. A detector that fails or takes too long ends the run.

    With the strategy ``token`` a value is put aside in the private state key ``pii_vault`` and the
    model works with a token. Tools get the value back in their arguments, and so does the last
    answer when the run ends; streams and traces show the token.

    An input is looked at before the run begins: nobody sees what was found, neither streams nor
    traces nor the checkpointer, and ``block`` refuses it before anything runs.

    Artifacts are searched in plain data, sets, bytes of text, dataclasses and pydantic models; a
    note takes the place of what cannot be searched, such as a table or an open file. Tokens of a
    model that a tool asks itself are not streamed where results of tools are covered.

    What people answer in place of a tool, and the notice of what they edited, are results too. List
    the middleware that asks them *before* this one: what one behind it answers to all calls of a
    reply is shown and stored as it is, and redacted a step later. Where several calls run as tasks
    of their own, each stored as it ends, so is the notice of an edit by one before it.

    What this does **not** cover: system prompts, names of people and other data without a
    fixed form (see ``presidio_detector``); pictures, files and base64 data; names, ids and response
    metadata of messages, which do not hold what was said; what tools do with
    what they get (traces show values that a tool got back), write to a custom stream or report
    to a tracer before they return; data that is split between two messages; state keys other
    than ``messages``; what ``update_state`` writes, until the next run looks at it; the values and
    decisions that a run is resumed with, in its traces. A model that a tool asks is in traces and in
    ``astream_events`` of the older versions as it answers. An agent that a tool runs is one of its
    own: its streams with ``subgraphs=True``, its traces and its checkpoints show what it says,
    unless it has this middleware too. Middleware that changes the model without
    ``request.override``, or a message in place after it was looked at, escapes it.

    Args:
        pii_type: A built-in kind (``email``, ``phone``, ``credit_card``, ``iban``, ``ip``,
            ``mac_address``, ``url``, ``api_key``), or a name of your own with a ``detector``.
        strategy: ``redact`` puts ``[REDACTED_EMAIL]`` in its place, ``mask`` leaves a little to
            be seen, ``hash`` gives equal values equal names, ``token`` can be undone, ``block``
            ends the run with ``PIIDetectionError``.
        detector: A function of the text that returns matches (dicts with ``start`` and ``end``),
            or a regular expression that cannot take exponential time.
        apply_to_input: What goes to the model: messages of users and of the caller's system,
            and, in requests only, earlier replies (which ``block`` redacts there).
        apply_to_output: Replies of the model.
        apply_to_tool_results: Results of tools.
        apply_to_tool_args: Arguments of the model's tool calls; by default as
            ``apply_to_output``.
        restore_tools: With ``token``, the tools that get values instead of tokens: all, none, or
            those named. A tool that sends data out can be made to send what it gets.
        key: Secret of ``hash`` and ``token``. Without it hashes can be guessed by trying likely
            values, and a token changes when the process does.
        stream_lookback: Characters of a streamed reply that are held back.
        max_chars: Longest text that a detector of your own searches; a longer one is refused.

    Raises:
        ConfigurationError: The kind is unknown, or a setting is wrong.
    """

    trace_policy = TracePolicy(process_inputs=omit_payload, process_outputs=omit_payload)
    """Runs of the hooks record neither what they look at nor what they put aside."""

    def __init__(
        self,
        pii_type: BuiltinPII | str,
        *,
        strategy: RedactionStrategy = "redact",
        detector: Callable[[str], Any] | str | None = None,
        apply_to_input: bool = True,
        apply_to_output: bool = False,
        apply_to_tool_results: bool = False,
        apply_to_tool_args: bool | None = None,
        restore_tools: bool | Sequence[str] = True,
        key: Any = None,
        stream_lookback: int = LOOKBACK,
        max_chars: int = MAX_CHARS,
    ) -> None:
        super().__init__()
        if stream_lookback < 1:
            msg = f"stream_lookback is {stream_lookback!r}; it must be at least 1."
            raise ConfigurationError(msg)
        self._rule = RedactionRule(pii_type, strategy, detector, key, max_chars).resolve()
        self.pii_type, self.strategy = self._rule.pii_type, self._rule.strategy
        self.apply_to_input = apply_to_input
        self.apply_to_output = apply_to_output
        self.apply_to_tool_results = apply_to_tool_results
        self.apply_to_tool_args = (
            apply_to_output if apply_to_tool_args is None else apply_to_tool_args
        )
        self.withholds_replies = apply_to_output or self.apply_to_tool_args
        rules = [self._rule]
        self._all = Redactor(rules, lookback=stream_lookback)
        self._reply = Redactor(
            rules, text=apply_to_output, calls=self.apply_to_tool_args, lookback=stream_lookback
        )
        # A reply that may be given may not end the next run by being sent again.
        gentle = RedactionRule(pii_type, "redact", detector, None, max_chars).resolve()
        self._again = Redactor([gentle]) if strategy == "block" else self._all
        self._sends_replies = apply_to_output and self.apply_to_tool_args and strategy != "block"
        """A reply in the state may be sent as it is."""
        self._guards = ModelGuards(self._reply)
        self._stored, self._sent = MessageMemory(), MessageMemory()
        self._results = ToolResults(self._all, covers=apply_to_tool_results, restores=restore_tools)
        # A thread would not make the search faster.
        self.quick_hooks = detector is None
        self._add_optional_hooks()

    def _add_optional_hooks(self) -> None:
        """Add the hooks that only some settings need: each costs a little in every run."""
        own = vars(self)
        if self.strategy == "token":
            own["state_schema"] = VaultState
            own["after_agent"] = self._restore_answer
        if self.apply_to_tool_results or self.strategy == "token":
            own["wrap_tool_call"] = self._results.wrap_tool_call
            own["awrap_tool_call"] = self._results.awrap_tool_call
        if self.apply_to_tool_results:
            own["before_tools"] = self._look_at_answers
            own["after_tools"] = self._look_at_results
        if self.apply_to_output or self.apply_to_tool_args:
            own["after_model"] = self._look_at_reply
        if self.apply_to_output or self.apply_to_tool_results or self.apply_to_tool_args:
            self.transformers = (
                partial(
                    PIIStreamTransformer,
                    redactor=self._all,
                    replies=self._reply,
                    message=self._in_state,
                    snapshots=self.strategy != "token",
                ),
            )

    @property
    def name(self) -> str:
        """The class and the kind of data, so that several can be told apart."""
        return f"{type(self).__name__}[{self.pii_type}]"

    def filter_input(self, messages: Sequence[BaseMessage]) -> dict[str, Any]:
        """An input as it may be stored, traced and streamed; values put aside go beside it.

        Raises:
            PIIDetectionError: Something was found and the strategy is ``block``.
            DetectorError: The detector failed.
        """
        found: dict[str, str] = {}
        token = FOUND.set(found)
        try:
            seen = [self._known(self._in_state(message)) for message in messages]
        finally:
            FOUND.reset(token)
        return {"messages": seen, "pii_vault": found} if found else {"messages": seen}

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Look at all messages of the thread."""
        return self._look(state, everywhere=True)

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Look at the messages that came since the last look."""
        if self.apply_to_tool_results and self.strategy == "block":
            self._results.refuse_withheld(state, runtime)
        return self._look(state, everywhere=False)

    def _look_at_reply(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Look at the reply once more, should it have come past the guarded model."""
        return self._look(state, everywhere=False, only=AIMessage)

    def _look_at_answers(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Look at what a hook before this one answered in place of a tool."""
        return self._look(state, everywhere=False, only=ToolMessage, in_place=True)

    def _look_at_results(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Look at what layers and hooks around this one added to the results."""
        if self.strategy == "block":
            self._results.refuse_withheld(state, runtime)
        return self._look(state, everywhere=False, in_place=True)

    def _flow(self, request: ModelRequest[Any]) -> Flow[Any] | None:
        """Guard the model, and look at what is sent."""
        if self.apply_to_output or self.apply_to_tool_args or self.strategy == "token":
            return self._watched(request)
        sent = self._guarded(request)
        return None if sent is request else _pass_on(sent)

    wrap_model_call, awrap_model_call = flow_layer(_flow)

    def _watched(self, request: ModelRequest[Any]) -> Flow[Any]:
        """Take the values aside that are found in what is sent and what comes back."""
        found: dict[str, str] = {}
        token = FOUND.set(found)
        try:
            answer: Any = yield self._guarded(request)
            response = self._looked_over(answer)
        finally:
            FOUND.reset(token)
        if not found:
            return response
        return ExtendedModelResponse(response, Command(update={"pii_vault": found}))

    def _guarded(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        if self.apply_to_output or self.apply_to_tool_args:
            request = GuardedRequest.of(request, self._guards)
        messages = cast("list[BaseMessage]", request.messages)
        sent = self._sent.change_all(messages, self._to_send)
        return request if sent is None else request.override(messages=sent)

    def _to_send(self, message: BaseMessage) -> BaseMessage:
        """A message as it may be sent: earlier replies are input when they are sent again."""
        new = message if message in self._stored else self._in_state(message)
        if self.apply_to_input and not self._sends_replies and isinstance(message, AIMessage):
            return self._again.message(new)
        return new

    def _looked_over(self, response: ModelResponse[Any]) -> ModelResponse[Any]:
        if not (self.apply_to_output or self.apply_to_tool_args):
            return response
        response.result = [self._known(self._in_state(m)) for m in response.result]
        return response

    def _known(self, message: BaseMessage) -> BaseMessage:
        self._stored.add(message)
        return message

    def _in_state(self, message: BaseMessage) -> BaseMessage:
        """A message as it may be in the state, by its role and the settings."""
        if isinstance(message, AIMessage):
            covered = self.apply_to_output or self.apply_to_tool_args
            return self._reply.message(message) if covered else message
        if isinstance(message, ToolMessage):
            return self._all.message(message) if self.apply_to_tool_results else message
        return self._all.message(message) if self.apply_to_input else message

    def _in_state_or_withheld(self, message: BaseMessage) -> BaseMessage:
        """A message as it may be in the state; a result that ends the run is withheld first."""
        if not isinstance(message, ToolMessage):
            return self._in_state(message)
        try:
            return self._in_state(message)
        except PIIDetectionError as error:
            return withheld(message, error)

    def _look(self, state: Any, *, in_place: bool = False, **which: Any) -> dict[str, Any] | None:
        # What this step made is replaced, and ends the run in the next one; all else at once.
        change = self._in_state_or_withheld if in_place else self._in_state
        return look(state["messages"], self._stored, change, in_place=in_place, **which)

    def _restore_answer(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Put the values back into the answer of the run."""
        return restored_answer(state, results=self.apply_to_tool_results)


def _pass_on(request: ModelRequest[Any]) -> Flow[Any]:
    return (yield request)


BUILTIN_KINDS = tuple(BUILTIN_DETECTORS)
"""The kinds of data that need no detector."""
