"""Where people answer: the approvals of a database, in the terminal or in a page of the browser.

Open ``desk.py`` first: what a reviewer can look at and do, whatever they see it through.
``fields.py`` makes a form of a JSON schema, ``sheet.py`` writes a thread down as plain data.
``dialogue.py`` and ``table.py`` are the terminal, ``web/`` is the page.
"""

from __future__ import annotations

from .desk import Desk, Outcome
from .named_agent import named_agent
from .program import ReviewSettings, review

__all__ = ["Desk", "Outcome", "ReviewSettings", "named_agent", "review"]
