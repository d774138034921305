"""What guards: the hook contract, composition and one file per guardrail.

Open ``base.py`` first: it defines ``AgentMiddleware``. ``exports.py`` lists what can be imported
from here; the guardrails are loaded when the first of them is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..state.lazy import lazy_names

if TYPE_CHECKING:
    from .exports import *  # noqa: F403 - the list is in that file
    from .exports import __all__ as __all__
else:
    __getattr__, __dir__ = lazy_names(__name__, {"exports": None})
