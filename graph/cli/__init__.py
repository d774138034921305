"""The ``interlock`` command.

``entry.py`` is where it begins; each file in ``commands/`` is one command, named like the file.
``tour/`` holds the examples of ``interlock demo``, one per file; ``node_log.py`` shows a run while
it happens.
"""

from __future__ import annotations

from .entry import main

__all__ = ["main"]
