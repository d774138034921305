"""What waits for a person: in one thread, and in a whole database without any agent's code.

Open ``answers.py`` first: listing and answering in a thread. ``thread.py`` is what is known of a
thread that waits, ``newest_pauses.py`` says which rows hold it, ``sqlite.py`` and ``postgres.py``
read them, ``conversation.py`` reads what was said before.
"""

from __future__ import annotations

from .answers import aanswer, addressed, answer, apending, pending
from .conversation import Conversation, read_conversation
from .database import ThreadDatabase, open_threads, waiting_threads
from .thread import WaitingThread

__all__ = [
    "Conversation",
    "ThreadDatabase",
    "WaitingThread",
    "aanswer",
    "addressed",
    "answer",
    "apending",
    "open_threads",
    "pending",
    "read_conversation",
    "waiting_threads",
]
