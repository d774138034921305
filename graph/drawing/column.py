"""One node of an agent, placed: a frame and the steps in it, one below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from .lettering import printable, width_of
from .picture import Step
from .scene import Box

TITLE_SIZE, DETAIL_SIZE = 13, 11
"""Sizes of letters in pixels."""

_NODE = (150, 58)
_STEP_HEIGHT, _STEP_GAP = 44, 22
_FRAME_HEAD, _FRAME_PAD = 32, 16
_LAYER_HEAD, _LAYER_PAD = 26, 9
_NARROWEST, _WIDEST = 150, 380
_TEXT_PAD = 10

TEXT_GAP = 14
"""Room between the title and the detail of a frame, in pixels."""


@dataclass(frozen=True)
class Column:
    """A placed node."""

    frame: Box
    blocks: tuple[Box, ...]
    """The outermost box of each step; the frame itself where there are no steps."""
    boxes: tuple[Box, ...]
    """Everything to be drawn, frames before what they hold."""
    entry: Box
    """Where runs that come back go in."""

    @property
    def last(self) -> Box:
        """Where runs go out."""
        return self.blocks[-1]

    @property
    def way_in(self) -> float:
        """The height at which a run that comes back goes in from the side."""
        return self.entry.at(0.5 if self.entry is not self.last else 0.3)

    @property
    def way_out(self) -> float:
        """The height at which a run goes out to the side."""
        return self.last.at(0.5 if self.entry is not self.last else 0.7)


def column(name: str, steps: Sequence[Step], entry: int, x: float, y: float) -> Column:
    """Place a node with its top left corner at ``x`` and ``y``.

    Args:
        name: What stands in it, or above its steps.
        steps: What it does.
        entry: Position of the step that runs come back to.
        x: Pixels to the right.
        y: Pixels downwards.
    """
    if not steps:
        frame = Box(x, y, *_NODE, "node", name)
        return Column(frame, (frame,), (frame,), frame)
    inner = max(*map(_width, steps), _NARROWEST)
    blocks: list[Box] = []
    boxes: list[Box] = []
    top = y + _FRAME_HEAD
    for step in steps:
        nested = list(_nested(step, x + _FRAME_PAD, top, inner))
        blocks.append(nested[0])
        boxes += nested
        top = nested[0].bottom + _STEP_GAP
    height = blocks[-1].bottom + _FRAME_PAD - y
    frame = Box(x, y, inner + 2 * _FRAME_PAD, height, "group", name)
    return Column(frame, tuple(blocks), (frame, *boxes), blocks[entry])


def room(box: Box) -> float:
    """The width that the text in a box may take."""
    return box.width - 2 * _TEXT_PAD


def _width(step: Step) -> float:
    """The width of a step with its layers."""
    own = max(width_of(printable(step.title), TITLE_SIZE), _detail_width(step.detail))
    layers = [
        width_of(printable(layer.title), TITLE_SIZE) + TEXT_GAP + _detail_width(layer.detail)
        for layer in step.layers
    ]
    return max(
        min(ceil(width) + 2 * _TEXT_PAD, _WIDEST) + 2 * _LAYER_PAD * level
        for level, width in enumerate([*layers, own])
    )


def _detail_width(text: str) -> float:
    return width_of(printable(text), DETAIL_SIZE)


def _nested(step: Step, x: float, y: float, width: float) -> Iterator[Box]:
    """The boxes of a step: its layers from outside in, then the step itself."""
    depth = len(step.layers)
    for level, layer in enumerate(step.layers):
        below = depth - level
        yield Box(
            x + level * _LAYER_PAD,
            y + level * _LAYER_HEAD,
            width - 2 * level * _LAYER_PAD,
            _STEP_HEIGHT + below * (_LAYER_HEAD + _LAYER_PAD),
            "layer",
            layer.title,
            layer.detail,
        )
    yield Box(
        x + depth * _LAYER_PAD,
        y + depth * _LAYER_HEAD,
        width - 2 * depth * _LAYER_PAD,
        _STEP_HEIGHT,
        "hook" if step.is_hook else "work",
        step.title,
        step.detail,
    )
