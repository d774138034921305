"""Finds the structured answer in a reply and reads it."""

from __future__ import annotations

import json
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk

from ...state.errors import (
    MultipleStructuredOutputsError,
    StructuredOutputError,
    StructuredOutputValidationError,
)
from ...state.finish import finish_reason, refusal_text
from ...state.structured_errors import (
    MissingStructuredOutputError,
    RefusedAnswerError,
    SchemaMismatchError,
    UnreadableAnswerError,
)
from .finish import ending, reply_text
from .problems import shortened, value_text
from .reading import MAX_QUOTED, read_json
from .schema import SchemaSpec


@dataclass(frozen=True)
class AnswerCall:
    """A call of an output tool."""

    id: str | None
    """Id of the call; None only in a message that was never made ready for a history."""
    name: str
    """Name of the tool, as it was called."""
    arguments: dict[str, Any] | str
    """What it was called with: parsed, or the text where that has failed."""


@dataclass(frozen=True)
class Reply:
    """A model's reply and the output calls in it."""

    message: AIMessage
    calls: tuple[AnswerCall, ...]
    """In call order, those whose arguments are no JSON last."""

    @property
    def text(self) -> str:
        """What the model answered, as text: its output calls, or else its words."""
        if not self.calls:
            return reply_text(self.message) or refusal_text(self.message) or ""
        return "\n".join(f"{call.name}({_as_text(call.arguments)})" for call in self.calls)


@dataclass(frozen=True)
class Answer:
    """A valid answer."""

    value: Any
    """The user's object."""
    data: Any
    """The JSON value that it was made from: the model's own, in the form of the schema."""
    schema_name: str
    """Name of the schema that it fits."""


def read_reply(message: AIMessage, names: Container[str] | None = None) -> Reply:
    """Find the calls of output tools in a reply.

    Args:
        message: The reply.
        names: Names of all output tools; without them every call counts.
    """
    calls = [
        AnswerCall(call["id"], call["name"], _arguments(message, call["id"], call["args"]))
        for call in message.tool_calls
        if names is None or call["name"] in names
    ]
    calls += [
        AnswerCall(call.get("id"), name, call.get("args") or "")
        for call in message.invalid_tool_calls
        if (name := call.get("name")) is not None and (names is None or name in names)
    ]
    return Reply(message, tuple(calls))


def answer_in_call(reply: Reply, specs: Sequence[SchemaSpec[Any]]) -> Answer:
    """Read the answer from the one output call of a reply.

    Exactly one answer is due: of several calls none is taken, whatever they hold.

    Args:
        reply: The reply, with at least one output call.
        specs: The schemas that are accepted.

    Raises:
        MultipleStructuredOutputsError: There are several calls.
        StructuredOutputValidationError: The answer is cut off, is no JSON or does not fit.
    """
    call, *others = reply.calls
    if others:
        raise MultipleStructuredOutputsError([call.name for call in reply.calls], reply.message)
    try:
        _require_whole(reply)
        spec = _spec_for(call, specs)
        data = call.arguments
        if isinstance(data, str):
            data = read_json(data, name=spec.title)
        return Answer(spec.validate(data), data, spec.name)
    except StructuredOutputError as error:
        raise StructuredOutputValidationError(call.name, error, reply.message) from error


def answer_in_native_text(reply: Reply, spec: SchemaSpec[Any]) -> Answer:
    """Read the answer from the text of a reply that the provider was to hold to a schema.

    Raises:
        StructuredOutputValidationError: The text is cut off, is no JSON or does not fit.
    """
    try:
        _require_whole(reply)
        text = reply_text(reply.message)
        data = read_json(text, name=spec.title, surrounded=True, bare=spec.wrapped)
        return Answer(spec.validate(data), data, spec.name)
    except StructuredOutputError as error:
        raise StructuredOutputValidationError(spec.title, error, reply.message) from error


def answer_in_prose(reply: Reply, specs: Sequence[SchemaSpec[Any]]) -> Answer:
    """Read the answer from the text of a reply that should have called an output tool.

    Some models write the arguments down instead of calling. That is an answer if the text is
    nothing but JSON, fenced or not, and fits exactly one schema; JSON among prose may be
    anything, so it is not.

    Raises:
        MissingStructuredOutputError: The text is prose.
        StructuredOutputValidationError: The reply is cut off or declined, or the text is JSON
            that does not fit the only schema.
    """
    names = [spec.title for spec in specs]
    message = reply.message
    try:
        _require_whole(reply)
    except UnreadableAnswerError as error:
        raise StructuredOutputValidationError(" or ".join(names), error, message) from error
    try:
        data = read_json(reply_text(message), name=" or ".join(names))
    except UnreadableAnswerError:
        raise MissingStructuredOutputError(names, message) from None
    found: list[Answer] = []
    for spec in specs:
        try:
            found.append(Answer(spec.validate(data), data, spec.name))
        except SchemaMismatchError as error:
            if len(specs) == 1:
                raise StructuredOutputValidationError(spec.title, error, message) from error
    if len(found) != 1:
        raise MissingStructuredOutputError(names, message)
    return found[0]


def _spec_for(call: AnswerCall, specs: Sequence[SchemaSpec[Any]]) -> SchemaSpec[Any]:
    for spec in specs:
        if spec.name == call.name:
            return spec
    names = " or ".join(spec.name for spec in specs)
    problem = f"{call.name} is not accepted for this answer; {names} is"
    raise SchemaMismatchError(call.name, [problem])


def _require_whole(reply: Reply) -> None:
    how = ending(reply.message)
    if how == "complete":
        return
    message, text = reply.message, reply.text
    quoted = repr(shortened(text, MAX_QUOTED))
    if how == "refused":
        words = refusal_text(message) or text or finish_reason(message)
        msg = f"The model declined to answer: {shortened(str(words), MAX_QUOTED)!r}."
        raise RefusedAnswerError(msg, text=text)
    msg = (
        f"The reply was cut off at the limit of its length ({finish_reason(message)}) and is "
        f"not read: {quoted}. A shorter answer or a higher limit is needed."
    )
    raise UnreadableAnswerError(msg, text=text)


def _arguments(
    message: AIMessage, ident: str | None, parsed: dict[str, Any]
) -> dict[str, Any] | str:
    # Chunks hold arguments that were completed by guesswork; there the text is the truth.
    if isinstance(message, AIMessageChunk):
        for chunk in message.tool_call_chunks:
            if chunk["id"] == ident and chunk["args"]:
                return chunk["args"]
    return parsed


def _as_text(arguments: dict[str, Any] | str) -> str:
    if isinstance(arguments, str):
        return arguments
    try:
        return json.dumps(arguments, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return value_text(arguments)
