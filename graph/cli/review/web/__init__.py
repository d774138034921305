"""One page for a reviewer, served to this machine alone; needs the extra ``web``.

Open ``app.py`` first: what the page can ask for. ``guard.py`` decides which requests get that far,
``page.html``, ``page.css`` and ``page.js`` are the page as the browser gets it.
"""

from __future__ import annotations

from .serving import serve

__all__ = ["serve"]
