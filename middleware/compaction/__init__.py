"""Shortening a conversation that outgrows the model's context window.

``CompactionMiddleware`` decides when; a compactor decides what goes. Open ``contract.py`` first.
"""

from __future__ import annotations

from .contract import Compacted, Compactor
from .middleware import CompactionMiddleware
from .offloading import ToolResultOffloadCompactor
from .pruning import ToolResultPruningCompactor
from .sliding_window import SlidingWindowCompactor
from .summarizing import SummarizationCompactor

__all__ = [
    "Compacted",
    "CompactionMiddleware",
    "Compactor",
    "SlidingWindowCompactor",
    "SummarizationCompactor",
    "ToolResultOffloadCompactor",
    "ToolResultPruningCompactor",
]
