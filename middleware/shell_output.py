"""The output of one command of a shell, kept within limits however much there is."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Source = Literal["out", "err"]

_LABELS: Mapping[Source, str] = {"out": "", "err": "[stderr] "}
_LONGEST_LINE = 65_536


@dataclass
class _Stream:
    """What has come from one of the two streams."""

    unread: bytes = b""
    """The end of what came, in which the mark may have begun."""
    line: bytes = b""
    """The line that is not complete yet."""
    done: bool = False
    """The mark has been seen, or nothing more comes."""


@dataclass
class ShellOutput:
    """Takes what a shell writes and tells when a command is done.

    A command is done when a mark that it cannot know has come through both streams. Only so much
    is kept as may be shown; the rest is counted and dropped.
    """

    mark: bytes
    max_lines: int
    max_bytes: int | None
    status: int | None = None
    """The command's exit status, as the shell said it behind the mark."""
    total_lines: int = 0
    total_bytes: int = 0
    _kept: list[str] = field(default_factory=list[str])
    _kept_bytes: int = 0
    _streams: dict[Source, _Stream] = field(
        default_factory=lambda: {"out": _Stream(), "err": _Stream()}
    )
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def feed(self, source: Source, data: bytes) -> None:
        """Take what came from a stream; nothing at all means that it has ended."""
        with self._changed:
            stream = self._streams[source]
            if not data:
                self._take(source, stream.unread)
                self._end_line(source)
                stream.unread, stream.done = b"", True
            elif not stream.done:
                self._read(source, stream.unread + data)
            self._changed.notify_all()

    def wait(self, timeout_s: float | None) -> bool:
        """Whether both streams are done, at the latest after ``timeout_s`` seconds."""
        with self._changed:
            return self._changed.wait_for(self._is_done, timeout_s)

    def close(self) -> None:
        """Nothing more comes: the shell has ended, whoever still holds its streams."""
        with self._changed:
            for source, stream in self._streams.items():
                if not stream.done:
                    self._take(source, stream.unread)
                    self._end_line(source)
                    stream.unread, stream.done = b"", True
            self._changed.notify_all()

    @property
    def text(self) -> str:
        """What is kept, lines of the error stream marked as such."""
        text = "\n".join(self._kept)
        if self.max_bytes is not None and len(text.encode()) > self.max_bytes:
            return text.encode()[: self.max_bytes].decode("utf-8", "ignore")
        return text

    @property
    def cut_lines(self) -> bool:
        """Whether lines were dropped because there were too many."""
        return self.total_lines > self.max_lines

    @property
    def cut_bytes(self) -> bool:
        """Whether something was dropped because it was too long."""
        return self.max_bytes is not None and self.total_bytes > self.max_bytes

    def _is_done(self) -> bool:
        return all(stream.done for stream in self._streams.values())

    def _read(self, source: Source, data: bytes) -> None:
        stream = self._streams[source]
        mark = b"\n" + self.mark
        at = data.find(mark)
        if at >= 0 and (end := data.find(b"\n", at + len(mark))) >= 0:
            self._take(source, data[:at])
            self._end_line(source)
            said = data[at + len(mark) : end].strip()
            if source == "out" and said.lstrip(b"-").isdigit():
                self.status = int(said)
            stream.unread, stream.done = b"", True
            return
        # The mark may come in pieces, or behind it the status may still be missing.
        keep = at if at >= 0 else max(0, len(data) - len(mark))
        self._take(source, data[:keep])
        stream.unread = data[keep:]

    def _take(self, source: Source, data: bytes) -> None:
        self.total_bytes += len(data)
        *lines, rest = data.split(b"\n")
        stream = self._streams[source]
        for line in lines:
            stream.line = (stream.line + line)[:_LONGEST_LINE]
            self._end_line(source, even_if_empty=True)
        stream.line = (stream.line + rest)[:_LONGEST_LINE]

    def _end_line(self, source: Source, *, even_if_empty: bool = False) -> None:
        stream = self._streams[source]
        line, stream.line = stream.line, b""
        if not line and not even_if_empty:
            return
        self.total_lines += 1
        room = self.max_bytes is None or self._kept_bytes <= self.max_bytes
        if len(self._kept) < self.max_lines and room:
            text = _LABELS[source] + line.decode("utf-8", "replace").rstrip("\r")
            self._kept.append(text)
            self._kept_bytes += len(text.encode()) + 1
