"""Server-sent events out of bytes: framing only, whatever the bytes mean.

Source: the event stream format of the HTML standard, section 9.2.6 (2026), with two dialects
that providers speak: the last event may lack its blank line, and a line that is itself a JSON
object (an error some proxies write without ``data:``) counts as an event.
"""

from __future__ import annotations

from typing import Final

from ....state.model_errors import ChatModelTooLargeError

_BOM: Final = b"\xef\xbb\xbf"

Event = tuple[bytes, bytes]
"""Name of the event (empty for an ordinary one) and its data, lines joined by line feeds."""


class EventReader:
    """Takes blocks of bytes as they come and gives the events that are complete.

    Blocks may be cut anywhere, in the middle of a character or between CR and LF. Work is
    linear in the bytes fed, also when they come one by one.

    Args:
        max_event_bytes: Longest line, and longest event, that is accepted.
        max_total_bytes: Longest stream that is accepted.
    """

    def __init__(self, *, max_event_bytes: int, max_total_bytes: int) -> None:
        self._max_event_bytes = max_event_bytes
        self._max_total_bytes = max_total_bytes
        self._total = 0
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._name = b""
        self._after_cr = False
        self._at_start = True

    def feed(self, block: bytes) -> list[Event]:
        """Return the events that this block completes.

        Args:
            block: The next bytes of the stream.

        Raises:
            ChatModelTooLargeError: The line, event or stream is longer than its limit.
        """
        self._total += len(block)
        if self._total > self._max_total_bytes:
            msg = "stream"
            raise self._too_large(msg, self._max_total_bytes)
        if b"\r" in block or self._after_cr:
            block = self._line_feeds_only(block)
        if b"\n" not in block:
            self._rest += block
            self._check_line(len(self._rest))
            return []
        if self._rest:
            block = bytes(self._rest) + block
            self._rest.clear()
        lines = block.split(b"\n")
        self._rest += lines.pop()
        self._check_line(len(self._rest))
        return self._read_lines(lines)

    def close(self) -> list[Event]:
        """Return the last event where the stream ended without its blank line."""
        rest, self._rest = bytes(self._rest), bytearray()
        return self._read_lines([rest, b""])

    def _read_lines(self, lines: list[bytes]) -> list[Event]:
        events: list[Event] = []
        if self._at_start:
            self._at_start = False
            lines[0] = lines[0].removeprefix(_BOM)
        for line in lines:
            if line.startswith(b"data:"):
                self._add_data(line[6:] if line[5:6] == b" " else line[5:])
            elif not line:
                if self._data:
                    data = self._data
                    events.append((self._name, data[0] if len(data) == 1 else b"\n".join(data)))
                    self._data, self._data_bytes = [], 0
                self._name = b""
            elif line.startswith(b"{"):
                self._check_line(len(line))
                events.append((self._name, line))
            else:
                self._read_other_field(line)
        return events

    def _read_other_field(self, line: bytes) -> None:
        self._check_line(len(line))
        field, _, value = line.partition(b":")
        if field == b"event":
            self._name = value.strip()
        elif field == b"data":
            self._add_data(b"")

    def _add_data(self, value: bytes) -> None:
        self._data_bytes += len(value)
        self._check_line(self._data_bytes)
        self._data.append(value)

    def _line_feeds_only(self, block: bytes) -> bytes:
        if self._after_cr and block:
            block = block.removeprefix(b"\n")
            self._after_cr = False
        self._after_cr = self._after_cr or block.endswith(b"\r")
        return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _check_line(self, length: int) -> None:
        if length > self._max_event_bytes:
            msg = "event"
            raise self._too_large(msg, self._max_event_bytes)

    @staticmethod
    def _too_large(what: str, limit: int) -> ChatModelTooLargeError:
        return ChatModelTooLargeError(
            f"The {what} in the provider's answer is too large: more than {limit} bytes. "
            f"Raise max_{'event' if what == 'event' else 'answer'}_bytes if that is expected."
        )
