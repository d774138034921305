"""The structured answer of a reply that is still coming, chunk by chunk."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessageChunk

from .finish import reply_text
from .schema import SchemaSpec


@dataclass
class _Call:
    """A tool call as far as it has come."""

    name: str = ""
    args: str = ""


@dataclass
class GrowingAnswer:
    """Reads the chunks of one reply as they come. Nothing is checked against the schema.

    >>> from langchain_core.messages import AIMessageChunk
    >>> answer = GrowingAnswer([SchemaSpec({"title": "City", "type": "object"})], native=True)
    >>> answer.add(AIMessageChunk('{"name": "Os')), answer.add(AIMessageChunk('lo"}'))
    ({'name': 'Os'}, {'name': 'Oslo'})
    """

    specs: Sequence[SchemaSpec[Any]]
    """The schemas that are accepted."""
    native: bool
    """The answer is the text of the reply, where no output tool is called."""
    schema_name: str = ""
    """Name of the schema that the value so far is meant for."""
    _calls: dict[Hashable, _Call] = field(default_factory=dict[Hashable, _Call])
    _text: str = ""

    def add(self, chunk: AIMessageChunk) -> Any:
        """Take the next chunk and give what can be read of the answer, or None."""
        for part in chunk.tool_call_chunks:
            call = self._call(part["index"], begins=bool(part["name"]))
            call.name += part["name"] or ""
            call.args += part["args"] or ""
        for call in self._calls.values():
            for spec in self.specs:
                if call.name == spec.name:
                    return self._read(spec, call.args)
        if not self.native:
            return None
        self._text += reply_text(chunk)
        return self._read(self.specs[0], self._text)

    def _call(self, index: Hashable, *, begins: bool) -> _Call:
        """The call that a chunk belongs to; one without an index goes on with the last call."""
        if index is None:
            index = len(self._calls) - (0 if begins or not self._calls else 1)
        return self._calls.setdefault(index, _Call())

    def _read(self, spec: SchemaSpec[Any], text: str) -> Any:
        self.schema_name = spec.name
        return spec.partial(text)
