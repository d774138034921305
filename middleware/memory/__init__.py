"""Long-term memory: what a run finds in the store when it begins and leaves there when it ends.

Open ``middleware.py`` first. ``scope.py`` says whose memories they are, ``criteria.py`` what is
searched for, ``filters.py`` reads conditions on metadata, ``search.py`` finds and ranks,
``notes.py`` shows the model what was found, ``records.py`` makes memories of messages.
"""

from __future__ import annotations

from .criteria import SearchCriteria
from .middleware import MemoryMiddleware
from .records import Memory
from .scope import MemoryScope, memory_namespace

__all__ = ["Memory", "MemoryMiddleware", "MemoryScope", "SearchCriteria", "memory_namespace"]
