"""Agents as plain data and as YAML, and back: names of a registry, and nothing that is imported.

Open ``document.py`` first: the format. ``registry.py`` holds what a program lets a file name,
``codec.py`` writes and reads values, ``shipped.py`` lists the classes that any file may name.
"""

from __future__ import annotations

from .document import FORMAT, read_document, write_document
from .registry import Registry
from .yaml_text import MAX_CHARS, read_yaml, write_yaml

__all__ = [
    "FORMAT",
    "MAX_CHARS",
    "Registry",
    "read_document",
    "read_yaml",
    "write_document",
    "write_yaml",
]
