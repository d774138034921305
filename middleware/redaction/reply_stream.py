"""A model's reply, redacted piece by piece while it arrives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast

from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from .guarded_model import without_logprobs
from .keys import ARGUMENTS, CALL_BLOCKS, STRUCTURAL_KEYS, is_spared
from .lookback import Lookback
from .reply_chunks import apart, flat, merged, says_something, together
from .reply_path import Path, item_of, rebuilt
from .surfaces import change_json, change_value, keep_text
from .text_run import Finder, TextRun

_SPOKEN_KEYS = frozenset({"code", "content", "reasoning", "refusal", "summary", "text", "thinking"})
"""Keys whose values arrive in pieces even in blocks without an index."""

_JSON_KEYS = frozenset({"args", "arguments", "input", "partial_json"})
"""Keys of calls whose texts are JSON."""

_TEXT: Path = ("content",)
"""Where a reply has its text, or its blocks."""


class PieceRedactor(Finder, Protocol):
    """What redacting a reply in pieces needs."""

    @property
    def text(self) -> bool:
        """Whether what is said is covered."""
        ...

    @property
    def calls(self) -> bool:
        """Whether arguments of calls are covered."""
        ...

    @property
    def kept_keys(self) -> frozenset[str]:
        """Keys of content blocks that are left alone."""
        ...

    def buffer(self) -> Lookback:
        """A buffer for text that arrives in pieces."""
        ...


class ReplyStream:
    """Takes the chunks of one reply and gives chunks that hold nothing sensitive.

    What is said flows with a delay of some characters. Arguments of tool calls come whole
    with the last chunk: only complete JSON shows what is in it.
    """

    def __init__(self, redactor: PieceRedactor) -> None:
        self._redactor = redactor
        self._texts = TextRun[Path](redactor)
        self._buffers: dict[Path, Lookback] = {}
        self._held: dict[Path, str] = {}
        self._skeletons: dict[Path, dict[str, Any]] = {}
        """What names the blocks that held text belongs to, to send the rest in."""
        self._late: list[tuple[Path, str]] = []
        """Text of earlier blocks that may be shown now."""
        self._plain = True
        """Content comes as text, not as blocks."""

    def feed(self, chunk: ChatGenerationChunk) -> Iterator[ChatGenerationChunk]:
        """What may be shown after one more chunk."""
        message = cast("AIMessageChunk", chunk.message)
        fields = self._fields(message)
        last = getattr(message, "chunk_position", None) == "last"
        if last:
            fields = merged(fields, self._rest())
        info = without_logprobs(chunk.generation_info)
        if last or info or says_something(fields, message):
            first, *others = apart(message, fields)
            yield ChatGenerationChunk(message=first, generation_info=info)
            for other in others:
                yield ChatGenerationChunk(message=other)

    def flush(self) -> Iterator[ChatGenerationChunk]:
        """What was held back, where no chunk said that it is the last one."""
        fields = self._rest()
        if fields["content"] or fields["tool_call_chunks"] or fields["additional_kwargs"]:
            yield ChatGenerationChunk(message=AIMessageChunk(**fields))

    def _fields(self, message: AIMessageChunk) -> dict[str, Any]:
        content = message.content
        self._plain = self._plain and isinstance(content, str)
        shown: str | list[Any]
        if isinstance(content, str):
            shown = self._said(_TEXT, content)
        else:
            shown = [self._item(_TEXT, block, merges=True) for block in content]
        if self._late:
            earlier = [self._rebuilt(path, text)["content"] for path, text in self._late]
            own = shown if isinstance(shown, list) else [shown] if shown else []
            shown, self._late = [*flat(earlier), *own], []
        return {
            "content": shown,
            "tool_call_chunks": [self._call(dict(call)) for call in message.tool_call_chunks],
            "additional_kwargs": self._additional(message.additional_kwargs),
        }

    def _said(self, path: Path, text: str) -> str:
        if not text or not self._redactor.text:
            return text
        if self._is_text(path):
            shown = self._texts.feed(path, text)
            if not shown:
                return ""
            self._late += [(place, piece) for place, piece in shown if place != path and piece]
            return "".join(piece for place, piece in shown if place == path)
        buffer = self._buffers.get(path)
        if buffer is None:
            buffer = self._buffers[path] = self._redactor.buffer()
        return buffer.feed(text)

    def _is_text(self, path: Path) -> bool:
        """Whether it is part of what the message says as a whole."""
        return path == _TEXT or (
            path[0] == "content"
            and path[2:] == ("text",)
            and self._skeletons[path[:2]].get("type") == "text"
        )

    def _hold(self, path: Path, text: str) -> str:
        self._held[path] = self._held.get(path, "") + text
        return ""

    def _item(self, path: Path, item: Any, *, merges: bool, calls: bool = False) -> Any:
        """An entry of a list: a content block, or something inside of one, or a part of it.

        Args:
            path: Where the list is.
            item: The entry.
            merges: Entries with the same index come to one; others stand for themselves.
            calls: It is part of a call.
        """
        if isinstance(item, str) and path == _TEXT:
            return self._said(path, item)
        if not isinstance(item, dict):
            return self._change(item, calls=calls)
        parts = cast("dict[str, Any]", item)
        step = item_of(parts)
        path = (*path, step)
        calls = calls or parts.get("type") in CALL_BLOCKS
        named = {k: v for k, v in parts.items() if k in {"type", "index"}}
        self._skeletons[path] = {**self._skeletons.get(path, {}), **named}
        return self._mapping(path, parts, merges=merges and step.indexed, calls=calls)

    def _mapping(
        self, path: Path, parts: Mapping[str, Any], *, merges: bool, calls: bool
    ) -> dict[str, Any]:
        if not (self._redactor.calls if calls else self._redactor.text):
            return dict(parts)
        is_argument = calls and not ARGUMENTS.isdisjoint(p for p in path if isinstance(p, str))
        fixed = frozenset[str]() if is_argument else STRUCTURAL_KEYS
        new: dict[str, Any] = {}
        for key, value in parts.items():
            if is_spared(key, value, self._redactor.kept_keys, fixed):
                new[key] = value
                continue
            at, name = (*path, key), self._redactor.redact(key)
            if isinstance(value, dict):
                inner = cast("dict[str, Any]", value)
                new[name] = self._mapping(at, inner, merges=merges, calls=calls)
            elif isinstance(value, list):
                items = cast("list[Any]", value)
                new[name] = [self._item(at, i, merges=merges, calls=calls) for i in items]
            elif isinstance(value, str):
                new[name] = self._piece(at, value, merges=merges, calls=calls)
            else:
                new[name] = self._change(value, calls=calls)
        return new

    def _piece(self, path: Path, text: str, *, merges: bool, calls: bool) -> str:
        """A text, which may be a piece of one."""
        if calls:
            if merges:
                return self._hold(path, text)
            return change_json(text, self._redactor.redact)
        if merges or path[-1] in _SPOKEN_KEYS:
            return self._said(path, text)
        return cast("str", self._change(text))

    def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        """A piece of a tool call; one without an index is a whole call."""
        args, index = call.get("args"), call.get("index")
        if not args or not self._redactor.calls:
            return call
        if index is None:
            return {**call, "args": change_json(args, self._redactor.redact)}
        return {**call, "args": self._hold(("call", index), args)}

    def _additional(self, extra: Mapping[str, Any]) -> dict[str, Any]:
        # langchain-core reads calls from tool_call_chunks; the provider's own notation of the same
        # pieces cannot be redacted before it is complete.
        said = {k: v for k, v in extra.items() if k not in {"tool_calls", "function_call"}}
        return self._mapping(("extra",), said, merges=True, calls=False)

    def _change(self, value: Any, *, calls: bool = False) -> Any:
        wanted = self._redactor.calls if calls else self._redactor.text
        change = self._redactor.redact if wanted else keep_text
        fixed = frozenset[str]() if calls else STRUCTURAL_KEYS
        return change_value(value, change, self._redactor.kept_keys, fixed)

    def _rest(self) -> dict[str, Any]:
        """Everything that is still held, as fields of a chunk."""
        said = [*self._texts.flush(), *((p, b.flush()) for p, b in self._buffers.items())]
        held = [(p, change_json(t, self._redactor.redact)) for p, t in self._held.items()]
        self._held = {}
        calls: list[Any] = []
        content: list[Any] = []
        extra: list[dict[str, Any]] = []
        for path, text in [*said, *held]:
            if not text:
                continue
            if path[0] == "call":
                named = {"name": None, "id": None, "args": text, "index": path[1]}
                calls.append({**named, "type": "tool_call_chunk"})
            elif path[0] == "content":
                content.append(self._rebuilt(path, text)["content"])
            else:
                extra.append(self._rebuilt(path, text)["extra"])
        return {
            "content": "".join(content) if self._plain else flat(content),
            "tool_call_chunks": calls,
            "additional_kwargs": together(extra),
        }

    def _rebuilt(self, path: Path, text: str) -> dict[str, Any]:
        return rebuilt(path, text, self._skeletons)
