"""An agent's picture as SVG: one file, no script, no font and nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from .column import DETAIL_SIZE, TEXT_GAP, TITLE_SIZE, room
from .layout import DOT, lay_out
from .lettering import cut, printable, width_of
from .picture import picture_of
from .scene import Arrow, Box, Dot, Scene

_COLOURS = {
    "node": ("#e3ecfb", "#3f63a8"),
    "group": ("#f6f8fc", "#9fb2d6"),
    "layer": ("#fff9ec", "#d2a24c"),
    "hook": ("#fff2d6", "#c08a2b"),
    "work": ("#d9e6fb", "#3f63a8"),
}
"""Inside and edge of each kind of box."""

_INK, _PALE_INK, _LINE = "#1c2733", "#55616e", "#5b6775"

_OPENING = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" \
viewBox="0 0 {width:.0f} {height:.0f}" role="img" \
font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif">
<title>{title}</title>
<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" \
orient="auto"><path d="M0 0.8 L9.5 5 L0 9.2 z" fill="{line}"/></marker></defs>
<rect width="100%" height="100%" fill="#ffffff"/>"""


def draw_svg(graph: Any, *, hooks: bool = False) -> str:
    """An agent's graph as an SVG image.

    Args:
        graph: What ``create_agent`` returned.
        hooks: Show every hook of a middleware as a step of its node, in the order in which they
            run, with layers around the model and the tools.

    Returns:
        The text of an ``.svg`` file.

    Raises:
        TypeError: ``graph`` is no agent.
    """
    return "\n".join([*_lines(lay_out(picture_of(graph, hooks=hooks))), ""])


def _lines(scene: Scene) -> Iterator[str]:
    title = _escaped(f"The graph of {scene.title}")
    yield _OPENING.format(width=scene.width, height=scene.height, title=title, line=_LINE)
    for box in scene.boxes:
        yield from _box(box)
    for arrow in scene.arrows:
        yield _arrow(arrow)
    for arrow in scene.arrows:
        if arrow.label:
            yield _text(*arrow.label_at, arrow.label, DETAIL_SIZE, _PALE_INK)
    for dot in scene.dots:
        yield from _dot(dot)
    yield "</svg>"


def _box(box: Box) -> Iterator[str]:
    inside, edge = _COLOURS[box.style]
    dashed = ' stroke-dasharray="5 3"' if box.style == "layer" else ""
    yield (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="8" fill="{inside}" stroke="{edge}" '
        f'stroke-width="1.4"{dashed}/>'
    )
    if box.style in {"group", "layer"}:
        yield from _head(box)
    elif box.detail:
        yield _text(box.middle, box.at(0.34), cut(box.title, TITLE_SIZE, room(box)), TITLE_SIZE)
        detail = cut(box.detail, DETAIL_SIZE, room(box))
        yield _text(box.middle, box.at(0.71), detail, DETAIL_SIZE, _PALE_INK)
    else:
        yield _text(box.middle, box.at(0.5), cut(box.title, TITLE_SIZE, room(box)), TITLE_SIZE)


def _head(box: Box) -> Iterator[str]:
    """The words of a frame, at its top left."""
    left, y = box.x + 10, box.y + 15
    detail = printable(box.detail)
    gap = width_of(detail, DETAIL_SIZE) + TEXT_GAP if detail else 0
    title = cut(box.title, TITLE_SIZE, room(box) - gap)
    yield _text(left, y, title, TITLE_SIZE, anchor="start", bold=box.style == "group")
    if detail:
        yield _text(box.right - 10, y, detail, DETAIL_SIZE, _PALE_INK, anchor="end")


def _arrow(arrow: Arrow) -> str:
    pieces = " ".join(f"{x:.1f},{y:.1f}" for x, y in arrow.points)
    return (
        f'<polyline points="{pieces}" fill="none" stroke="{_LINE}" stroke-width="1.4" '
        'stroke-linejoin="round" marker-end="url(#head)"/>'
    )


def _dot(dot: Dot) -> Iterator[str]:
    if not dot.is_end:
        yield f'<circle cx="{dot.x:.1f}" cy="{dot.y:.1f}" r="{DOT}" fill="{_INK}"/>'
        return
    ring = f'fill="#ffffff" stroke="{_INK}" stroke-width="1.4"'
    yield f'<circle cx="{dot.x:.1f}" cy="{dot.y:.1f}" r="{DOT}" {ring}/>'
    yield f'<circle cx="{dot.x:.1f}" cy="{dot.y:.1f}" r="{DOT - 3}" fill="{_INK}"/>'


def _text(
    x: float,
    y: float,
    text: str,
    size: int,
    ink: str = _INK,
    *,
    anchor: str = "middle",
    bold: bool = False,
) -> str:
    weight = ' font-weight="600"' if bold else ""
    # The middle of a line of letters is about a third of their size above its base.
    return (
        f'<text x="{x:.1f}" y="{y + size * 0.35:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'fill="{ink}"{weight}>{_escaped(text)}</text>'
    )


def _escaped(text: str) -> str:
    return escape(printable(text))
