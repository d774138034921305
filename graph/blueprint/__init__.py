"""The agent as a value: settings that make a graph, run it, are copied and written down.

Open ``agent.py`` first. ``arguments.py`` is what a run is called with, ``chunks.py`` what a
streaming callback is told, ``lifecycle.py`` how things are warmed up and closed.
"""

from __future__ import annotations

from .agent import Agent
from .chunks import StreamingCallback, print_streaming_chunk
from .settings import BlueprintSettings

__all__ = ["Agent", "BlueprintSettings", "StreamingCallback", "print_streaming_chunk"]
