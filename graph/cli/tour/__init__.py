"""The tour of ``interlock demo``: one example per file, each with its checks.

``stage.py`` is what an example acts on, ``program.py`` plays all of them.
"""

from __future__ import annotations

from .program import take_tour

__all__ = ["take_tour"]
