"""An agent's picture as Mermaid text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..plan import END_NODE, MODEL
from .lettering import printable
from .picture import BEGIN, FINISH, Node, Picture, Step, Way, picture_of

_UNSAFE = re.compile(r"[^\w .,:()/+*=@$%?!·…-]")
"""Characters that Mermaid, or the page around it, might read as more than text."""

_LONGEST = 48
"""Characters of a name; a longer one would stand outside of its frame."""

_SETTINGS = '%%{init: {"flowchart": {"nodeSpacing": 120, "rankSpacing": 60}}}%%'
"""Room for the labels of two ways side by side."""

_STYLES = {
    "whole": "fill:#e3ecfb,stroke:#3f63a8,color:#1c2733",
    "group": "fill:#f6f8fc,stroke:#9fb2d6,color:#1c2733",
    "layer": "fill:#fff9ec,stroke:#d2a24c,color:#1c2733,stroke-dasharray:5 3",
    "hook": "fill:#fff2d6,stroke:#c08a2b,color:#1c2733",
    "work": "fill:#d9e6fb,stroke:#3f63a8,color:#1c2733",
}


def draw(graph: Any, *, hooks: bool = False) -> str:
    """An agent's graph as Mermaid text.

    Args:
        graph: What ``create_agent`` returned.
        hooks: Show every hook of a middleware as a step of its node, in the order in which they
            run, with layers around the model and the tools.

    Returns:
        Lines that GitHub, notebooks and editors show as a picture inside a ``mermaid`` block.

    Raises:
        TypeError: ``graph`` is no agent.
    """
    lines = list(_lines(picture_of(graph, hooks=hooks)))
    used = {line.rpartition(":::")[2] for line in lines if ":::" in line}
    used |= {line.split()[-1] for line in lines if line.lstrip().startswith("class ")}
    styles = [f"    classDef {name} {look}" for name, look in _STYLES.items() if name in used]
    return "\n".join([*lines, *styles, ""])


def _lines(picture: Picture) -> Iterator[str]:
    yield _SETTINGS
    yield "flowchart TD"
    yield f"    {BEGIN}([start])"
    for node in picture.nodes:
        if node.steps:
            yield from _group(node.name, node.name, node.steps)
        else:
            yield f'    {_id(node)}["{node.name}"]:::whole'
    yield f"    {FINISH}([finish])"
    by_name = {node.name: node for node in picture.nodes}
    for way in picture.ways:
        yield _arrow(way, by_name.get(way.source), by_name.get(way.target))
    if picture.on_error:
        yield from _group("on_error", "when something fails", picture.on_error)


def _arrow(way: Way, source: Node | None, target: Node | None) -> str:
    # Hooks of the end may send the run back, and the first of them are those made for it.
    back = way.source == END_NODE and way.target == MODEL
    left = _id(source, 0 if back else len(source.steps) - 1) if source else way.source
    right = _id(target, 0 if way.source == BEGIN else target.entry) if target else way.target
    return f"    {left} {f'-->|{way.label}|' if way.label else '-->'} {right}"


def _id(node: Node, position: int = 0) -> str:
    """What a step is called in the text; ``end`` alone would be a word of Mermaid's."""
    return f"{node.name}_{position}" if node.steps else f"{node.name}_node"


def _group(name: str, title: str, steps: Sequence[Step]) -> Iterator[str]:
    yield f'    subgraph {name}_group["{title}"]'
    for position, step in enumerate(steps):
        yield from _step(f"{name}_{position}", step)
    if len(steps) > 1:
        yield "        " + " --> ".join(f"{name}_{n}" for n in range(len(steps)))
    yield "    end"
    yield f"    class {name}_group group"


def _step(name: str, step: Step) -> Iterator[str]:
    layers = [f"{name}_layer{depth}" for depth in range(len(step.layers))]
    for ident, layer in zip(layers, step.layers, strict=True):
        yield f'        subgraph {ident}["{_safe(layer.title)} ({layer.detail})"]'
    text = "<br/>".join(_safe(part) for part in (step.title, step.detail) if part)
    yield f'        {name}["{text}"]:::{"hook" if step.is_hook else "work"}'
    yield from ["        end"] * len(layers)
    yield from (f"        class {ident} layer" for ident in layers)


def _safe(text: str) -> str:
    short = printable(text)
    if len(short) > _LONGEST:
        short = f"{short[: _LONGEST - 1]}…"
    return _UNSAFE.sub(lambda match: f"#{ord(match[0])};", short)
