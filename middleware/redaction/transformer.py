"""Redaction of typed event streams (``stream_events(version="v3")``), before anyone reads them.

The agent's own model is guarded where it is called. This covers what passes by it: models of
agents inside tools, output that tools send while they run, and snapshots of the state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

from langchain_core.messages import BaseMessage
from langgraph.stream import StreamTransformer

from .keys import CALL_BLOCKS, STRUCTURAL_KEYS, is_spared
from .lookback import Lookback
from .redactor import Redactor
from .surfaces import change_json, change_value

_DELTAS = {"text-delta": "text", "reasoning-delta": "reasoning"}
_HIDDEN = frozenset({"pii_vault"})


class PIIStreamTransformer(StreamTransformer):
    """Changes events in place; they keep their order and number.

    Args:
        scope: The namespace of the stream, given by langgraph.
        redactor: What is looked for in events of tools.
        replies: What is looked for in replies of models.
        message: What becomes of a message in a snapshot, by its role.
        snapshots: Whether the state's values are redacted.
    """

    before_builtins: ClassVar[bool] = True
    required_stream_modes: ClassVar[tuple[str, ...]] = ("messages", "tools", "values")

    def __init__(
        self,
        scope: tuple[str, ...] = (),
        *,
        redactor: Redactor,
        replies: Redactor,
        message: Callable[[BaseMessage], BaseMessage],
        snapshots: bool = True,
    ) -> None:
        super().__init__(scope)
        self._redactor = redactor
        self._replies = replies
        self._message = message
        self._snapshots = snapshots
        self._buffers: dict[tuple[Any, ...], Lookback] = {}

    def init(self) -> dict[str, Any]:
        """No view of its own."""
        return {}

    def process(self, event: Any) -> bool:
        """Redact one event."""
        params: dict[str, Any] = event["params"]
        data = params.get("data")
        if event["method"] == "messages" and isinstance(data, tuple):
            self._on_message(params, cast("tuple[Any, ...]", data))
        elif event["method"] == "tools" and isinstance(data, dict):
            self._on_tool(cast("dict[str, Any]", data))
        elif event["method"] == "values" and isinstance(data, Mapping):
            params["data"] = self._snapshot(cast("Mapping[str, Any]", data))
        return True

    def finalize(self) -> None:
        """Forget what was held back."""
        self._buffers.clear()

    def fail(self, err: BaseException) -> None:  # noqa: ARG002
        """Forget what was held back."""
        self._buffers.clear()

    def _on_message(self, params: dict[str, Any], data: tuple[Any, ...]) -> None:
        payload, metadata = data if len(data) == 2 else (None, None)  # noqa: PLR2004
        if isinstance(payload, BaseMessage):
            params["data"] = (self._message(payload), metadata)
        if not isinstance(payload, dict):
            return
        part = cast("dict[str, Any]", payload)
        run = cast("Mapping[str, Any]", metadata or {}).get("run_id")
        kind = part.get("event")
        if kind == "content-block-delta" and isinstance(part.get("delta"), dict):
            self._on_delta(part["delta"], (run, part.get("index")))
        elif kind == "content-block-finish" and "content" in part:
            self._buffers.pop((run, part.get("index")), None)
            part["content"] = self._block(part["content"])
        elif kind in {"message-finish", "error"}:
            for key in [key for key in self._buffers if key[0] == run]:
                del self._buffers[key]

    def _on_delta(self, delta: dict[str, Any], key: tuple[Any, ...]) -> None:
        kind = str(delta.get("type"))
        name = _DELTAS.get(kind)
        if name is not None and self._replies.text:
            delta[name] = self._flow(key, str(delta.get(name) or ""))
        elif kind == "tool-call-delta" and self._replies.calls:
            # Arguments come whole and redacted when their block is finished.
            delta["args"] = ""
        elif kind == "block-delta" and isinstance(delta.get("fields"), dict):
            delta["fields"] = self._named(cast("dict[str, Any]", delta["fields"]))

    def _named(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A piece of a block of another kind without text, which comes when it is finished."""
        if not (self._replies.calls if fields.get("type") in CALL_BLOCKS else self._replies.text):
            return fields
        return {
            key: value if is_spared(key, value, self._redactor.kept_keys, STRUCTURAL_KEYS) else ""
            for key, value in fields.items()
            if not isinstance(value, (dict, list))
        }

    def _flow(self, key: tuple[Any, ...], text: str) -> str:
        buffer = self._buffers.get(key)
        if buffer is None:
            buffer = self._buffers[key] = self._redactor.buffer()
        return buffer.feed(text)

    def _block(self, block: Any) -> Any:
        kind = cast("Any", block).get("type") if isinstance(block, dict) else None
        covered = self._replies.calls if kind in CALL_BLOCKS else self._replies.text
        if not covered:
            return cast("Any", block)
        return change_value(block, self._redactor.redact, self._redactor.kept_keys, STRUCTURAL_KEYS)

    def _on_tool(self, data: dict[str, Any]) -> None:
        kind, key = data.get("event"), ("tool", data.get("tool_call_id"))
        if kind == "tool-output-delta" and isinstance(data.get("delta"), str):
            data["delta"] = self._flow(key, data["delta"])
            return
        for name in ("input", "delta", "output", "message"):
            if name in data:
                data[name] = self._change(data[name])
        if kind in {"tool-finished", "tool-error"}:
            self._buffers.pop(key, None)

    def _change(self, value: Any) -> Any:
        if isinstance(value, str):
            return change_json(value, self._redactor.redact)
        return change_value(value, self._redactor.redact, self._redactor.kept_keys, strict=True)

    def _snapshot(self, state: Mapping[str, Any]) -> dict[str, Any]:
        shown = {key: value for key, value in state.items() if key not in _HIDDEN}
        if not self._snapshots:
            return shown
        return {key: self._state_value(value) for key, value in shown.items()}

    def _state_value(self, value: Any) -> Any:
        if isinstance(value, list):
            items = cast("list[Any]", value)
            return [self._message(m) if isinstance(m, BaseMessage) else m for m in items]
        return self._message(value) if isinstance(value, BaseMessage) else value
