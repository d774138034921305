"""Prompts as templates: sandboxed Jinja2 with message blocks, and the inputs they ask for.

Open ``template.py`` first: one prompt. ``language.py`` is the template language, ``meter.py`` what
one rendering may cost, ``prompts.py`` the prompts of an agent together.
"""

from __future__ import annotations

from .prompts import Prompts, RequiredVariables
from .template import PromptTemplate

__all__ = ["PromptTemplate", "Prompts", "RequiredVariables"]
