"""Shapes on a plane: what a layout comes to, before it is written in any format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Point = tuple[float, float]
"""``x`` to the right and ``y`` downwards, in pixels."""

Style = Literal["node", "group", "layer", "hook", "work"]


@dataclass(frozen=True)
class Box:
    """A box with text: a whole node, a frame around other boxes, or a step."""

    x: float
    y: float
    width: float
    height: float
    style: Style
    title: str
    detail: str = ""

    @property
    def right(self) -> float:
        """Where it ends on the right."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Where it ends below."""
        return self.y + self.height

    @property
    def middle(self) -> float:
        """The middle between left and right."""
        return self.x + self.width / 2

    def at(self, share: float) -> float:
        """A height: 0 is the top, 1 the bottom."""
        return self.y + self.height * share


@dataclass(frozen=True)
class Arrow:
    """A line of straight pieces with a head at its end."""

    points: tuple[Point, ...]
    label: str = ""
    label_at: Point = (0, 0)
    """Where the middle of the label is."""


@dataclass(frozen=True)
class Dot:
    """The beginning or the end of all runs."""

    x: float
    y: float
    is_end: bool = False


@dataclass(frozen=True)
class Scene:
    """A picture with a place for everything."""

    title: str
    width: float
    height: float
    boxes: tuple[Box, ...]
    """Frames before what they hold."""
    arrows: tuple[Arrow, ...]
    dots: tuple[Dot, ...]
