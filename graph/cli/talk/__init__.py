"""What ``interlock chat`` is made of.

``dialogue.py`` is the conversation; ``screen.py`` shows it, ``thread_file.py`` keeps it,
``named_tools.py`` and ``dotenv_file.py`` read what it is given.
"""

from __future__ import annotations

from .dialogue import Dialogue
from .dotenv_file import read_dotenv
from .named_tools import named_tools
from .program import Settings, talk
from .screen import Screen
from .thread_file import open_thread

__all__ = [
    "Dialogue",
    "Screen",
    "Settings",
    "named_tools",
    "open_thread",
    "read_dotenv",
    "talk",
]
