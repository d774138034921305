"""Pictures of an agent: three nodes, or every hook in the order in which it runs.

``picture.py`` says what there is to draw, ``mermaid.py`` writes it as Mermaid text; ``layout.py``
places it and ``svg.py`` writes it as an image. Nothing is fetched, and no program is started.
"""

from __future__ import annotations

from .mermaid import draw
from .svg import draw_svg

__all__ = ["draw", "draw_svg"]
