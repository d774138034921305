"""What one rendering may cost: every loop, call and value is charged before it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from jinja2.exceptions import SecurityError

MAX_WORK = 20_000_000
"""Units of one rendering: a unit is about a character that is read or written."""

STEP = 100
"""Units of one round of a loop and of one call."""

ITEM = 8
"""Units of looking at one value."""

GLANCE = 16
"""Characters that are only looked at for a unit."""

MAX_BITS = 4096
"""Length of the longest number that a template may compute."""


class Meter:
    """Counts down the work of one rendering."""

    def __init__(self) -> None:
        self.left = MAX_WORK

    def charge(self, units: int) -> None:
        """Take units off.

        Raises:
            SecurityError: There are not that many left.
        """
        self.left -= units
        if self.left < 0:
            msg = "the template does more work than one prompt may cost"
            raise SecurityError(msg)

    def look(self, value: Any) -> None:
        """Take off what it costs to compare or search a value, which passes over text quickly.

        Raises:
            SecurityError: There is not that much left.
        """
        self.weigh(value, share=GLANCE)

    def weigh(self, value: Any, share: int = 1) -> None:
        """Take off what it costs to write a value out, everything inside it counted each time.

        Args:
            value: Any value; what is no plain data counts as one item.
            share: Characters for a unit.

        Raises:
            SecurityError: There is not that much left.
        """
        waiting: list[Any] = [value]
        while waiting:
            item = waiting.pop()
            self.charge(ITEM)
            if isinstance(item, (str, bytes)):
                self.charge(len(item) // share)
            elif isinstance(item, int):
                self.charge(item.bit_length() // 3)
            elif isinstance(item, Mapping):
                entries = cast("Mapping[Any, Any]", item)
                self.charge(len(entries))
                waiting.extend(entries.keys())
                waiting.extend(entries.values())
            elif isinstance(item, (list, tuple, set, frozenset)):
                inside = cast("list[Any]", item)
                self.charge(len(inside))
                waiting.extend(inside)

    def multiply(self, left: Any, right: Any) -> None:
        """Take off what ``left * right`` costs.

        Raises:
            SecurityError: The result would be too large.
        """
        for one, other in ((left, right), (right, left)):
            if isinstance(one, (str, bytes, list, tuple)) and isinstance(other, int):
                self.charge(len(cast("list[Any]", one)) * max(other, 0))
        if isinstance(left, int) and isinstance(right, int):
            _check_bits(left.bit_length() + right.bit_length())

    def power(self, left: Any, right: Any) -> None:
        """Take off what ``left ** right`` costs.

        Raises:
            SecurityError: The result would be too large, or an operand is no number.
        """
        if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
            msg = "** is for numbers"
            raise SecurityError(msg)
        if isinstance(left, int) and isinstance(right, int):
            _check_bits(left.bit_length() * max(right, 1))


def _check_bits(bits: int) -> None:
    if bits > MAX_BITS:
        msg = "the template computes a number that is too large"
        raise SecurityError(msg)
