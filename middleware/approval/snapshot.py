"""A stopped run in a file: versioned JSON that holds data only.

A snapshot names no classes and no functions: messages are rebuilt as messages, everything else
stays plain data. It is written to a new file that only its owner may read, whole or not at all.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, cast

from langchain_core.messages import BaseMessage, ToolCall, messages_from_dict, messages_to_dict

from ...state.errors import StorageError, UnstorableValueError
from ...state.history import pending_calls
from ...state.ledger import LEDGER_OUTPUTS

FORMAT = "interlock-snapshot"
VERSION = 1
MAX_BYTES = 64 * 2**20
"""Larger files are not read."""

Point = Literal["before_model", "before_tools"]


@dataclass(frozen=True)
class AgentSnapshot:
    """Everything that is needed to go on with a run that stopped."""

    point: Point
    """Where it stopped: before a model call, or before the calls of the last message."""
    messages: Sequence[BaseMessage]
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The other state keys."""
    run: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The run's counters, as its result would show them."""
    tool_name: str | None = None
    """The tool that was to run."""
    waiting: Sequence[str] = field(default_factory=list[str])
    """Ids of the calls that wait for a decision."""
    descriptions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Descriptions of the tools that are called, by name."""
    answer_key: str | None = None
    """The state key that takes decisions."""
    created_at: str = ""
    """When, in ISO 8601, UTC."""

    @classmethod
    def of(cls, state: Mapping[str, Any], **fields: Any) -> AgentSnapshot:
        """A snapshot of the state that a hook sees."""
        skipped = {"messages", "jump_to", "structured_response", *LEDGER_OUTPUTS}
        return cls(
            messages=list(state.get("messages") or []),
            values={k: v for k, v in state.items() if k not in skipped and v is not None},
            run={k: state[k] for k in LEDGER_OUTPUTS if k in state},
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            **fields,
        )

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls that have no result yet."""
        return pending_calls(self.messages)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data.

        Raises:
            UnstorableValueError: A state key holds something that is no JSON data.
        """
        for key, value in {**self.values, **self.run}.items():
            _check_plain(key, value)
        data = {name: getattr(self, name) for name in self.__dataclass_fields__}
        data["messages"] = messages_to_dict(list(self.messages))
        return {"format": FORMAT, "version": VERSION, **data, "waiting": list(self.waiting)}

    @classmethod
    def from_dict(cls, data: Any) -> AgentSnapshot:
        """A snapshot from :meth:`to_dict`.

        Raises:
            StorageError: The data is no snapshot, or of a version that is not supported.
        """
        if not isinstance(data, dict) or cast("Any", data).get("format") != FORMAT:
            msg = f"This is no snapshot of a run: its 'format' is not {FORMAT!r}."
            raise StorageError(msg)
        given = dict(cast("dict[str, Any]", data))
        version = given.pop("version", None)
        given.pop("format")
        if version != VERSION:
            msg = f"The snapshot has version {version!r}; this program reads version {VERSION}."
            raise StorageError(msg)
        try:
            messages = messages_from_dict(given.pop("messages"))
            return cls(messages=messages, **given)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            msg = f"The snapshot cannot be read: {type(error).__name__}: {error}; it was changed."
            raise StorageError(msg) from error

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write a new file into a folder, which is made if it is not there.

        Raises:
            StorageError: The file cannot be written.
            UnstorableValueError: A state key holds something that is no JSON data.
        """
        text = json.dumps(self.to_dict(), ensure_ascii=True, indent=1)
        target = Path(folder).expanduser()
        name = f"{re.sub(r'[^0-9]', '', self.created_at)}-{_slug(self.tool_name or self.point)}"
        try:
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
            # mkstemp makes a file of its own with mode 0600, so nobody's link is followed.
            handle, temporary = tempfile.mkstemp(prefix=".snapshot-", dir=target)
            path = target / f"{name}-{Path(temporary).name[-8:]}.json"
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except OSError as error:
            msg = f"The snapshot cannot be written to {str(folder)!r}: {error}."
            raise StorageError(msg) from error
        return path

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> AgentSnapshot:
        """Read a file that :meth:`save` wrote.

        Raises:
            StorageError: The file is missing, too large, cut off or no snapshot.
        """
        try:
            if Path(path).stat().st_size > MAX_BYTES:
                msg = f"The snapshot {str(path)!r} is larger than {MAX_BYTES} bytes."
                raise StorageError(msg)
            data = json.loads(Path(path).read_text("utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            msg = f"The snapshot {str(path)!r} cannot be read: {error}."
            raise StorageError(msg) from error
        return cls.from_dict(data)


def get_tool_calls_and_descriptions_from_snapshot(
    agent_snapshot: AgentSnapshot, breakpoint_tool_only: bool = True
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """What to show to the person who is to decide.

    Args:
        agent_snapshot: A snapshot of a run that stopped before a tool. Not changed.
        breakpoint_tool_only: Only the waiting calls of the tool that stopped the run; otherwise
            all calls without a result.

    Returns:
        The calls as dicts with ``tool_name``, ``arguments`` and ``id``, and the tools'
        descriptions by name.

    Raises:
        StorageError: The run did not stop before a tool.

    Source: the function of the same name in Haystack's experimental package, 0.17.
    """
    if agent_snapshot.tool_name is None:
        msg = "This run did not stop before a tool; there is nothing to decide about in it."
        raise StorageError(msg)
    calls = [
        {"tool_name": c["name"], "arguments": json.loads(json.dumps(c["args"])), "id": c["id"]}
        for c in agent_snapshot.tool_calls
        if not breakpoint_tool_only
        or (c["name"] == agent_snapshot.tool_name and c["id"] in agent_snapshot.waiting)
    ]
    names = {c["tool_name"] for c in calls}
    return calls, {n: d for n, d in agent_snapshot.descriptions.items() if n in names}


def _check_plain(key: str, value: Any) -> None:
    try:
        same = json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError, RecursionError):
        same = False
    if not same:
        kind = type(cast("object", value))
        name = f"{kind.__module__}.{kind.__qualname__}"
        msg = (
            f"State key {key!r} holds a {name} that is no plain JSON data, so a snapshot cannot "
            "keep it; keep plain data there, or use a checkpointer instead of snapshots."
        )
        raise UnstorableValueError(msg, key=key, type_name=name)


def _slug(text: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]+", "_", text)[:64]
