"""Where everything in an agent's picture goes: a pure function of what there is to draw.

The model stands on the left and the tools beside it, so that a run reads as a round: out of the
model at its last step, into the tools, and back over their top. The end stands below the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..plan import END_NODE, MODEL, TOOLS
from .column import DETAIL_SIZE, Column, column
from .lettering import width_of
from .picture import BEGIN, FINISH, Node, Picture
from .scene import Arrow, Dot, Point, Scene

MARGIN = 20
"""Pixels that stay empty around everything."""

DOT = 7
"""The size of a dot, from its middle to its edge, in pixels."""

_FIRST_Y = 62
_BELOW = 62
_BESIDE = 116
_LANE = 26
_CLEAR = 30
_INSET = 6


def lay_out(picture: Picture) -> Scene:
    """Give everything in a picture its place."""
    return _Plan.of(picture).scene()


@dataclass(frozen=True)
class _Plan:
    """The columns of a picture, and the dots where runs begin and end."""

    picture: Picture
    columns: dict[str, Column]
    failures: Column | None
    begin: Dot
    finish: Dot
    lanes: dict[str, float]
    """Where the ways back to the model go up, by the node that they come from."""

    @classmethod
    def of(cls, picture: Picture) -> _Plan:
        nodes = {node.name: node for node in picture.nodes}
        widths = {name: _column(node, 0, 0).frame.width for name, node in nodes.items()}
        # An end that is wider than the model stands out on both sides of it.
        out = max(widths.get(END_NODE, 0) - widths[MODEL], 0) / 2
        lanes, left = _lanes(picture)
        model = _column(nodes[MODEL], left + out, _FIRST_Y)
        columns = {MODEL: model}
        low, right = model.frame.bottom, model.frame.right + out
        if TOOLS in nodes:
            columns[TOOLS] = tools = _beside(nodes[TOOLS], model)
            right = max(right, tools.frame.right + _LANE)
            low = max(low, tools.frame.bottom)
        if END_NODE in nodes:
            x = model.frame.middle - widths[END_NODE] / 2
            columns[END_NODE] = end = _column(nodes[END_NODE], x, low + _BELOW)
            low = end.frame.bottom
        failures = None
        if picture.on_error:
            x = right + _BESIDE / 2
            failures = column("when something fails", picture.on_error, 0, x, _FIRST_Y)
        begin = Dot(model.blocks[0].middle, MARGIN + DOT)
        finish = Dot(model.blocks[0].middle, low + _BELOW, is_end=True)
        return cls(picture, columns, failures, begin, finish, lanes)

    def scene(self) -> Scene:
        columns = [*self.columns.values(), *([self.failures] if self.failures else [])]
        boxes = tuple(box for each in columns for box in each.boxes)
        arrows = (*self._ways(), *(a for each in columns for a in _inside(each)))
        points = [point for arrow in arrows for point in arrow.points]
        return Scene(
            title=self.picture.title,
            width=max([box.right for box in boxes] + [x for x, _ in points]) + MARGIN,
            height=max([box.bottom for box in boxes] + [self.finish.y + DOT]) + MARGIN,
            boxes=boxes,
            arrows=arrows,
            dots=(self.begin, self.finish),
        )

    def _ways(self) -> Iterator[Arrow]:
        for way in self.picture.ways:
            points, label_at = self._route(way.source, way.target, way.label)
            yield Arrow(points, way.label, label_at)

    def _route(self, source: str, target: str, label: str) -> tuple[tuple[Point, ...], Point]:
        """The pieces of a way, and the place of its label."""
        if (source, target) == (MODEL, TOOLS):
            return _across(self.columns[MODEL], self.columns[TOOLS])
        if (source, target) == (TOOLS, MODEL):
            return _back_over(self.columns[TOOLS], self.columns[MODEL])
        if target == MODEL and source != BEGIN:
            return self._back(source, label)
        if source == TOOLS:
            return self._down_from_tools(target, label)
        start = (
            (self.begin.x, self.begin.y + DOT)
            if source == BEGIN
            else (self.columns[source].last.middle, self.columns[source].last.bottom)
        )
        stop = (
            (self.finish.x, self.finish.y - DOT)
            if target == FINISH
            else (self.columns[target].blocks[0].middle, self.columns[target].blocks[0].y)
        )
        frame = self.columns[source].frame.bottom if source != BEGIN else start[1]
        beside = start[0] + width_of(label, DETAIL_SIZE) / 2 + 8
        return (start, stop), (beside, frame + _BELOW * 0.4)

    def _back(self, source: str, label: str) -> tuple[tuple[Point, ...], Point]:
        """Out on the left, up a lane, and into the model again."""
        model, out = self.columns[MODEL], self.columns[source]
        block, height = (out.last, out.way_out) if source == MODEL else (out.entry, out.way_in)
        lane = self.lanes[source]
        points = (
            (block.x, height),
            (lane, height),
            (lane, model.way_in),
            (model.entry.x, model.way_in),
        )
        middle = (height + model.way_in) / 2
        return points, (lane - width_of(label, DETAIL_SIZE) / 2 - 5, middle)

    def _down_from_tools(self, target: str, label: str) -> tuple[tuple[Point, ...], Point]:
        """Down below the tools, then left."""
        out = self.columns[TOOLS]
        x = out.last.middle
        goal = self.columns.get(target)
        y = goal.way_in if goal else self.finish.y
        stop = goal.entry.right if goal else self.finish.x + DOT
        beside = x + width_of(label, DETAIL_SIZE) / 2 + 8
        return ((x, out.last.bottom), (x, y), (stop, y)), (beside, out.frame.bottom + _BELOW * 0.4)


def _lanes(picture: Picture) -> tuple[dict[str, float], float]:
    """Lanes for the ways back, the model's own inside the others; and where columns may begin."""
    labels = {way.source: way.label for way in picture.ways if way.target == MODEL}
    lanes: dict[str, float] = {}
    x: float = MARGIN
    for source in (END_NODE, MODEL):
        if source in labels:
            x += width_of(labels[source], DETAIL_SIZE) + 8
            lanes[source] = x
            x += _LANE - 8
    return lanes, x


def _column(node: Node, x: float, y: float) -> Column:
    return column(node.name, node.steps, node.entry, x, y)


def _beside(node: Node, model: Column) -> Column:
    """The tools, right of the model: level with its last step, below the way back."""
    x = model.frame.right + _BESIDE
    if not node.steps:
        return _column(node, x, model.frame.y)
    level = model.way_out - _column(node, x, 0).way_in
    return _column(node, x, max(level, model.way_in + _CLEAR))


def _across(model: Column, tools: Column) -> tuple[tuple[Point, ...], Point]:
    """From the model's last step into the tools."""
    out, goal = model.way_out, tools.way_in
    if tools.entry is tools.frame:
        goal = out
    middle = (model.frame.right + tools.frame.x) / 2
    start, stop = (model.last.right, out), (tools.entry.x, goal)
    if model.last.y + _INSET < goal < model.last.bottom - _INSET:
        # A straight line is worth leaving from a little above or below the middle.
        start = (start[0], goal)
        return (start, stop), (middle, goal + 13)
    bend = model.frame.right + _LANE
    return (start, (bend, out), (bend, goal), stop), ((bend + tools.frame.x) / 2, goal + 13)


def _back_over(tools: Column, model: Column) -> tuple[tuple[Point, ...], Point]:
    """From the tools' last step back into the model, over their top."""
    goal = (model.entry.right, model.way_in)
    label = ((model.frame.right + tools.frame.x) / 2, model.way_in - 8)
    if tools.entry is tools.frame:
        return ((tools.frame.x, model.way_in), goal), label
    lane = tools.frame.right + _LANE
    out = (tools.last.right, tools.way_out)
    return (out, (lane, out[1]), (lane, model.way_in), goal), label


def _inside(placed: Column) -> Iterator[Arrow]:
    """From step to step."""
    for upper, lower in zip(placed.blocks, placed.blocks[1:], strict=False):
        yield Arrow(((upper.middle, upper.bottom), (lower.middle, lower.y)))
