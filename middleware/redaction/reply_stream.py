"""A model's reply, redacted piece by piece while it arrives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from .guarded_model import without_logprobs
from .keys import BINARY_KEYS, CALL_BLOCKS, STRUCTURAL_KEYS
from .lookback import Lookback
from .surfaces import change_json, change_value, keep_text

Path = tuple[Any, ...]

_SPOKEN_KEYS = frozenset({"code", "content", "reasoning", "refusal", "summary", "text", "thinking"})
"""Keys of content blocks whose values arrive in pieces."""

_JSON_KEYS = frozenset({"args", "arguments", "input", "partial_json"})
"""Keys of calls whose values arrive in pieces."""


class PieceRedactor(Protocol):
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

    def redact(self, text: str) -> str:
        """A text with everything sensitive replaced."""
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
        self._buffers: dict[Path, Lookback] = {}
        self._held: dict[Path, str] = {}
        self._blocks: dict[Path, dict[str, Any]] = {}
        """Skeletons of the blocks that held text belongs to, to send the rest in."""
        self._plain = True
        """Content comes as text, not as blocks."""

    def feed(self, chunk: ChatGenerationChunk) -> Iterator[ChatGenerationChunk]:
        """What may be shown after one more chunk."""
        message = cast("AIMessageChunk", chunk.message)
        fields = self._fields(message)
        last = getattr(message, "chunk_position", None) == "last"
        if last:
            fields = _merged(fields, self._rest())
        info = without_logprobs(chunk.generation_info)
        if last or info or _says_something(fields, message):
            first, *others = _apart(message, fields)
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
        return {
            "content": self._said(("content",), content)
            if isinstance(content, str)
            else [self._block(("content",), block) for block in content],
            "tool_call_chunks": [self._call(dict(call)) for call in message.tool_call_chunks],
            "additional_kwargs": self._additional(message.additional_kwargs),
        }

    def _said(self, path: Path, text: str) -> str:
        if not self._redactor.text:
            return text
        buffer = self._buffers.get(path)
        if buffer is None:
            buffer = self._buffers[path] = self._redactor.buffer()
        return buffer.feed(text)

    def _hold(self, path: Path, text: str) -> str:
        self._held[path] = self._held.get(path, "") + text
        return ""

    def _block(self, path: Path, block: Any) -> Any:
        """A content block, or a part of one, with its texts held or passed on."""
        if isinstance(block, str):
            return self._said(path, block)
        if not isinstance(block, dict):
            return block
        parts = cast("dict[str, Any]", block)
        path = (*path, parts.get("index", parts.get("type")))
        is_call = parts.get("type") in CALL_BLOCKS
        if is_call and not self._redactor.calls:
            return cast("Any", parts)
        flowing, take = (_JSON_KEYS, self._hold) if is_call else (_SPOKEN_KEYS, self._said)
        new: dict[str, Any] = {}
        for key, value in parts.items():
            if isinstance(value, str) and key in flowing:
                self._blocks[path] = {k: v for k, v in parts.items() if k in {"type", "index"}}
                new[key] = take((*path, key), value)
            elif isinstance(value, list) and not is_call:
                items = cast("list[Any]", value)
                new[key] = [self._block((*path, key), item) for item in items]
            else:
                new[key] = self._part(key, value, calls=is_call)
        return new

    def _part(self, key: str, value: Any, *, calls: bool) -> Any:
        """The value of a key of a block, which may be all of a call's arguments."""
        if key in STRUCTURAL_KEYS:
            return value
        if key in BINARY_KEYS:
            # By its key it may be binary data, which is not searched.
            return self._change({key: value})[key]
        return self._change(value, calls=calls)

    def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        """A piece of a tool call; one without an index is a whole call."""
        args, index = call.get("args"), call.get("index")
        if not args or not self._redactor.calls:
            return call
        if index is None:
            return {**call, "args": change_json(args, self._redactor.redact)}
        return {**call, "args": self._hold(("call", index), args)}

    def _additional(self, extra: Mapping[str, Any]) -> dict[str, Any]:
        new: dict[str, Any] = {}
        for key, value in extra.items():
            if key in {"tool_calls", "function_call"}:
                # langchain-core reads calls from tool_call_chunks; the provider's own notation of
                # the same pieces cannot be redacted before it is complete.
                continue
            new[key] = (
                self._said(("extra", key), value) if isinstance(value, str) else self._change(value)
            )
        return new

    def _change(self, value: Any, *, calls: bool = False) -> Any:
        wanted = self._redactor.calls if calls else self._redactor.text
        change = self._redactor.redact if wanted else keep_text
        fixed = frozenset[str]() if calls else STRUCTURAL_KEYS
        return change_value(value, change, self._redactor.kept_keys, fixed)

    def _rest(self) -> dict[str, Any]:
        """Everything that is still held, as fields of a chunk."""
        rest = {path: text for path, b in self._buffers.items() if (text := b.flush())}
        held = {p: change_json(t, self._redactor.redact) for p, t in self._held.items() if t}
        self._held = {}
        calls = [
            {"name": None, "id": None, "args": text, "index": path[1], "type": "tool_call_chunk"}
            for path, text in held.items()
            if path[0] == "call"
        ]
        extra = {path[1]: text for path, text in rest.items() if path[0] == "extra"}
        said = {p: t for p, t in {**rest, **held}.items() if p[0] == "content"}
        content: str | list[Any] = said.get(("content",), "")
        if not self._plain:
            content = [t if p == ("content",) else self._rebuilt(p, t) for p, t in said.items()]
        return {"content": content, "tool_call_chunks": calls, "additional_kwargs": extra}

    def _rebuilt(self, path: Path, text: str) -> Any:
        """The block that a held text belongs to, holding nothing but the text."""
        key, outer = path[-1], path[:-1]
        block = {**self._blocks[outer], key: text}
        while len(outer) > 2:  # noqa: PLR2004 - ("content", index) is a block of its own
            key, outer = outer[-2], outer[:-2]
            block = {**self._blocks.get(outer, {}), key: [block]}
        return block


def _apart(message: AIMessageChunk, fields: dict[str, Any]) -> list[AIMessageChunk]:
    """A chunk in as many as langchain-core needs to tell the arguments of its calls.

    Its typed events lose those that come in one chunk with a text, or in the last one.
    """
    whole, calls = _copy(message, fields), fields["tool_call_chunks"]
    if not calls or not isinstance(whole.content, str):
        return [whole]
    chunks = [whole]
    if whole.content:
        chunks = [
            _copy(message, {**fields, "tool_call_chunks": []}),
            AIMessageChunk(content="", id=message.id, tool_call_chunks=calls),
        ]
    if message.chunk_position == "last":
        chunks[0].chunk_position = None
        chunks.append(AIMessageChunk(content="", id=message.id, chunk_position="last"))
    return chunks


def _copy(message: AIMessageChunk, fields: dict[str, Any]) -> AIMessageChunk:
    metadata = {k: v for k, v in message.response_metadata.items() if k != "logprobs"}
    copy = AIMessageChunk(
        **fields,
        id=message.id,
        name=message.name,
        response_metadata=metadata,
        usage_metadata=message.usage_metadata,
    )
    copy.chunk_position = message.chunk_position
    return copy


def _merged(fields: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    one, other = (cast("AIMessage", AIMessageChunk(**f)) for f in (fields, rest))
    whole = cast("AIMessageChunk", cast("Any", one) + other)
    return {
        "content": whole.content,
        "tool_call_chunks": whole.tool_call_chunks,
        "additional_kwargs": whole.additional_kwargs,
    }


def _says_something(fields: Mapping[str, Any], message: AIMessageChunk) -> bool:
    return bool(
        fields["content"]
        or fields["tool_call_chunks"]
        or fields["additional_kwargs"]
        or message.usage_metadata
        or message.response_metadata
    )
