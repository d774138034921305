"""A streamed answer, put together from its events."""

from __future__ import annotations

from typing import Any, Final, cast

from langchain_core.messages.tool import ToolCallChunk

from ....state.model_errors import ChatModelIncompleteError
from .answer import parse_payload
from .chunk import AnswerChunk, delta_chunk
from .excerpt import excerpt
from .failures import from_error_object, malformed
from .finish import cut_off_by
from .json_value import as_list, as_object
from .message import Content, answer_metadata, content_of, extras_of, gather_extras, reasoning_of
from .origin import Origin
from .sse import Event
from .tool_calls import ToolCallSlots, legacy_function_call
from .usage import read_usage

_DONE: Final = b"[DONE]"
_NO_FINISH: Final = (
    "The answer ended without saying that it is complete, so this call did not run. Make it again."
)
_PLAIN_DELTA: Final = frozenset({"role", "content"})


class StreamAssembler:
    """Turns events into message chunks; the last chunk carries everything that was decided.

    Args:
        origin: Where the stream comes from.
    """

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._slots = ToolCallSlots()
        self._finish_reason: str | None = None
        self._metadata: dict[str, Any] = {}
        self._extras: dict[str, Any] = {}
        self._usage: object = None
        self._logprobs: dict[str, list[Any]] = {}
        self._events = 0
        self._choices = 0
        self.done = False
        """The stream said that nothing follows."""

    @property
    def finished(self) -> bool:
        """The answer itself is complete; token counts may still follow."""
        return self._finish_reason is not None

    def add(self, event: Event, *, closing: bool = False) -> AnswerChunk | None:
        """Take one event and return what it adds to the message, if anything.

        Args:
            event: The next event.
            closing: The stream ended without the blank line that ends the event.

        Raises:
            ChatModelMalformedError: The event is not what the protocol promises.
            ChatModelError: The event reports an error; the class tells which.
        """
        name, data = event
        if data == _DONE or data.strip() == _DONE:
            self.done = True
            return None
        self._events += 1
        try:
            payload = parse_payload(data)
        except ValueError as exc:
            return self._add_unparsed(name, data, exc, closing=closing)
        found = as_object(payload)
        if found is None:
            msg = f"an event that is no object: {excerpt(repr(payload), 120)}"
            raise malformed(msg, self._origin)
        if found.get("error") or name == b"error":
            raise from_error_object(found.get("error") or found, self._origin)
        return self._add_payload(found)

    def finish(self) -> AnswerChunk:
        """Return the last chunk: calls, token counts, metadata.

        Raises:
            ChatModelMalformedError: The stream held no answer at all.
            ChatModelIncompleteError: It ended before the answer did.
        """
        if not self._choices:
            what = "no data" if not self._events else "no choices, so no message"
            msg = f"a stream with {what}: the answer is empty"
            raise malformed(msg, self._origin)
        if not self.finished and not self.done:
            msg = "the stream ended without a finish reason"
            raise self.incomplete(msg)
        cut_off = cut_off_by(self._finish_reason) if self.finished else _NO_FINISH
        decided = self._slots.decide(cut_off=cut_off)
        if decided.extras:
            self._extras["tool_call_extras"] = decided.extras
        metadata = {**self._metadata, **self._origin.metadata()}
        if self._finish_reason is not None:
            metadata["finish_reason"] = self._finish_reason
        if self._logprobs:
            metadata["logprobs"] = self._logprobs
        if self._usage:
            metadata["token_usage"] = self._usage
        return AnswerChunk(
            content="",
            additional_kwargs=self._extras,
            response_metadata=metadata,
            tool_calls=decided.valid,
            invalid_tool_calls=decided.invalid,
            tool_call_chunks=self._slots.markers(),
            usage_metadata=read_usage(self._usage),
            chunk_position="last",
        )

    def incomplete(self, why: str) -> ChatModelIncompleteError:
        """Return the error for an answer that broke off.

        Args:
            why: What ended it, in a few words.
        """
        return ChatModelIncompleteError(
            f"The provider's answer is incomplete: {why}. "
            "Nothing of it was used; make the request again.",
            status=self._origin.status,
            request_id=self._origin.request_id,
        )

    def _add_unparsed(
        self, name: bytes, data: bytes, exc: ValueError, *, closing: bool
    ) -> AnswerChunk | None:
        if b"\n" in data:
            return self._add_lines(name, data.split(b"\n"), closing=closing)
        if closing:
            return None  # half an event; without a finish reason the stream counts as broken
        if name == b"error":
            raise from_error_object(data.decode("utf-8", "replace"), self._origin)
        msg = f"an event that is no JSON ({exc}): {excerpt(repr(data), 120)}"
        raise malformed(msg, self._origin)

    def _add_lines(self, name: bytes, lines: list[bytes], *, closing: bool) -> AnswerChunk | None:
        """Read each data line as an event of its own: some servers forget the blank lines."""
        whole: AnswerChunk | None = None
        for line in lines:
            half = closing and line is lines[-1]
            piece = self.add((name, line), closing=half) if line.strip() else None
            if piece is not None:
                whole = piece if whole is None else cast("AnswerChunk", whole + piece)
        return whole

    def _add_payload(self, payload: dict[str, Any]) -> AnswerChunk | None:
        choices = payload.get("choices")
        usage = payload.get("usage")
        if usage:
            self._usage = usage
        if not choices:
            self._metadata.update(answer_metadata(payload))
            return None
        listed = as_list(choices)
        if listed is None:
            msg = f"choices that are no list: {excerpt(repr(choices), 120)}"
            raise malformed(msg, self._origin)
        choice = _first_choice(listed)
        if choice is None:
            return None
        self._note(choice, payload)
        delta = choice.get("delta")
        if delta is None and self._choices == 1:
            delta = choice.get("message")
        if not delta:
            return None
        fields = as_object(delta)
        if fields is None:
            msg = f"a delta that is no object: {excerpt(repr(delta), 120)}"
            raise malformed(msg, self._origin)
        return self._add_delta(fields)

    def _note(self, choice: dict[str, Any], payload: dict[str, Any]) -> None:
        """Keep what the event says beside the text."""
        finish_reason = choice.get("finish_reason")
        if finish_reason or not self._choices:
            self._metadata.update(answer_metadata(payload))
        self._choices += 1
        if finish_reason:
            if not cut_off_by(self._finish_reason):  # what was cut off stays cut off
                self._finish_reason = str(finish_reason)
            self._usage = self._usage or choice.get("usage")
            beside = ("index", "delta", "message", "finish_reason", "logprobs", "usage")
            noted = {k: v for k, v in choice.items() if k not in beside and v is not None}
            self._metadata.update(noted)
        if choice.get("logprobs"):
            self._add_logprobs(choice["logprobs"])

    def _add_delta(self, delta: dict[str, Any]) -> AnswerChunk | None:
        content = delta.get("content")
        if isinstance(content, str) and delta.keys() <= _PLAIN_DELTA:
            return delta_chunk(content) if content else None
        beside: dict[str, Any] = {}
        text: Content
        text, thoughts = content_of(content, self._origin)
        if reasoning := reasoning_of(delta) or thoughts:
            beside["reasoning_content"] = reasoning
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            beside["refusal"] = refusal
        shown: list[ToolCallChunk] = []
        if delta.get("tool_calls") or delta.get("function_call"):
            shown = self._slots.add(legacy_function_call(delta))
        gather_extras(self._extras, extras_of(delta))
        if not text and not beside and not shown:
            return None
        return delta_chunk(text, beside, shown)

    def _add_logprobs(self, logprobs: object) -> None:
        for key, values in (as_object(logprobs) or {}).items():
            self._logprobs.setdefault(key, []).extend(as_list(values) or [])


def _first_choice(choices: list[Any]) -> dict[str, Any] | None:
    for choice in choices:
        found = as_object(choice)
        if found is not None and not found.get("index"):
            return found
    return None
