"""The input of a run, checked and brought into one form before anything runs."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, cast

from langchain_core.messages import BaseMessage, RemoveMessage, convert_to_messages
from pydantic import BaseModel, TypeAdapter, ValidationError

from .errors import InvalidInputError, InvalidInputTypeError
from .merge import MergedSchema
from .reducers import CONTENT, ID, is_whole, stamp_messages
from .suggestion import did_you_mean


class InputCheck:
    """Checks what a caller gives a run: made once per agent."""

    def __init__(self, schema: MergedSchema, *, messages_required: bool = True) -> None:
        self._allowed = tuple(schema.input.__annotations__)
        self._omitted = frozenset(schema.state.__annotations__).difference(self._allowed)
        self._messages_required = messages_required
        self._fields = schema.fields
        self._adapters: dict[str, TypeAdapter[Any] | None] = {}

    def __call__(self, value: Any) -> dict[str, Any]:
        """The input as a dict of state updates, its messages all messages with ids.

        Keys that the state declares but does not take are left out, so a result can be given to
        the next run. The caller's objects are not changed: messages without an id are copied.

        Raises:
            InvalidInputTypeError: The input is no mapping or model, or a value has a wrong type.
            InvalidInputError: ``messages`` is missing, nobody declares a key, or an entry of
                ``messages`` is no message.
        """
        given = {k: v for k, v in self.as_mapping(value).items() if k not in self._omitted}
        for key in given:
            if key not in self._allowed:
                msg = (
                    f"The input has no key {key!r}; an agent with this state takes "
                    f"{', '.join(self._allowed)}.{did_you_mean(str(key), self._allowed)}"
                )
                raise InvalidInputError(msg, key=key)
        if given.get("messages") is None:
            if self._messages_required:
                msg = "The input needs 'messages': a list of messages, or the text of one."
                raise InvalidInputError(msg, key="messages")
            given["messages"] = []
        given["messages"] = as_messages(given["messages"])
        return {key: self._checked(key, item) for key, item in given.items()}

    def own_keys(self, value: Any) -> dict[str, Any]:
        """What of a larger state is input of this agent.

        Raises:
            InvalidInputTypeError: It is no mapping, model or dataclass.
        """
        return {k: v for k, v in self.as_mapping(value).items() if k in self._allowed}

    def as_mapping(self, value: Any) -> dict[str, Any]:
        """The keys and values of an input in any of its forms.

        Raises:
            InvalidInputTypeError: It is no mapping, model or dataclass.
        """
        if isinstance(value, BaseModel):
            return {k: getattr(value, k) for k in type(value).model_fields}
        if hasattr(value, "__dataclass_fields__"):
            return {k: getattr(value, k) for k in value.__dataclass_fields__}
        if isinstance(value, Mapping):
            return dict(cast("Mapping[str, Any]", value))
        msg = (
            f"The input of a run is {type(value).__name__!r}; give a dict with 'messages', for "
            "example {'messages': [HumanMessage('hello')]}."
        )
        raise InvalidInputTypeError(msg)

    def _checked(self, key: str, value: Any) -> Any:
        if key == "messages":
            return value
        field = self._fields[key]
        if key not in self._adapters:
            self._adapters[key] = field.adapter()
        adapter = self._adapters[key]
        if adapter is None:
            return value
        try:
            valid = adapter.validate_python(value)
        except ValidationError as error:
            details = "; ".join(str(e["msg"]) for e in error.errors(include_url=False))
            msg = f"The input value of {key!r} does not fit {field.owner}: {details}."
            raise InvalidInputTypeError(msg, key=key) from error
        return valid if field.validated else value


def _entries(value: Any) -> list[Any]:
    """The messages of an input, each in whatever notation."""
    if not isinstance(value, (list, tuple)):
        return [value]
    entries = list(cast("list[Any]", value))
    # A pair of texts is one message in (role, text) notation.
    pair = isinstance(value, tuple) and len(entries) == 2  # noqa: PLR2004
    return [value] if pair and all(isinstance(v, str) for v in entries) else entries


def as_messages(value: Any) -> list[BaseMessage]:
    """Messages in any notation as messages with ids.

    Raises:
        InvalidInputError: One of them is none, or holds text that nothing can store.
    """
    entries = _entries(value)
    if _is_plain(entries):
        ids: list[Any] = [*map(ID, entries)]
        for position in [n for n, ident in enumerate(ids) if ident is None] if None in ids else ():
            entries[position] = entries[position].model_copy(update={"id": str(uuid.uuid4())})
        return entries
    for position, entry in enumerate(entries):
        message = entry if isinstance(entry, BaseMessage) else _as_message(position, entry)
        if message is entry and message.id is None and not isinstance(message, RemoveMessage):
            message = message.model_copy()
        if message is not entry:
            entries[position] = message
        content: Any = message.content
        if type(content) is not str or not content.isascii():
            _check_text(position, content)
    return stamp_messages(entries)


def _is_plain(entries: list[Any]) -> bool:
    """Whether all are messages of ASCII text: of a long history, most are, and it is quickly said."""
    kinds = set(map(type, entries))
    if RemoveMessage in kinds or not all(map(is_whole, kinds)):
        return False
    contents: list[Any] = [*map(CONTENT, entries)]
    return set(map(type, contents)) <= {str} and all(map(str.isascii, contents))


def _as_message(position: int, entry: Any) -> BaseMessage:
    try:
        return convert_to_messages([entry])[0]
    except (ValueError, TypeError, KeyError, NotImplementedError, AttributeError) as error:
        msg = (
            f"Entry {position} of 'messages' is no message ({_form(entry)}{_why(error)}); give "
            "messages, (role, text) pairs, role/content dicts, or text."
        )
        # Not chained: the errors of langchain-core and pydantic quote the message.
        raise InvalidInputError(msg, key="messages") from None


def _form(entry: Any) -> str:
    """What an entry is, without the values in it: they may be nobody's to read."""
    if not isinstance(entry, dict):
        parts = cast("list[Any]", entry) if isinstance(entry, (list, tuple)) else []
        role = parts[0] if len(parts) == 2 else None  # noqa: PLR2004
        kind = type(cast("object", entry)).__name__
        return f"{kind} with the role {role[:40]!r}" if isinstance(role, str) else kind
    keys = ", ".join(str(key)[:40] for key in [*cast("dict[Any, Any]", entry)][:8])
    role = cast("dict[Any, Any]", entry).get("role")
    if isinstance(role, str):
        return f"dict with the role {role[:40]!r} and the keys {keys}"
    return f"dict with the keys {keys}" if keys else "empty dict"


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        details = dict.fromkeys(str(e["msg"]) for e in error.errors(include_url=False))
        return f": {'; '.join(details)}"
    return f" lacks {error.args[0]!r}" if isinstance(error, KeyError) else ""


def _check_text(position: int, content: Any) -> None:
    """Refuse text that no serializer can store."""
    blocks = cast("list[Any]", content) if isinstance(content, list) else [content]
    for block in blocks:
        text: Any = cast("Any", block).get("text") if isinstance(block, dict) else block
        if isinstance(text, str) and not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                msg = (
                    f"Entry {position} of 'messages' is no valid Unicode text (a lone surrogate at "
                    f"character {error.start}); replace it, for example with "
                    "text.encode('utf-8', 'replace').decode()."
                )
                raise InvalidInputError(msg, key="messages") from error
