"""The commands of ``interlock``: each file holds one, a function of the same name.

They import what they need when they run, so that ``interlock --help`` stays fast.
"""

from __future__ import annotations

__all__: list[str] = []
