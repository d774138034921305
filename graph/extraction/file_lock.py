"""A file for one process at a time; the lock goes with the process, however it ends."""

from __future__ import annotations

import sys
from typing import IO, Any


def lock_file(file: IO[Any]) -> None:
    """Take an open file for this process.

    Raises:
        OSError: Another open file has it.
    """
    if sys.platform == "win32":
        # Locking there also keeps readers out, who may well look at results as they come.
        return
    import fcntl  # noqa: PLC0415 -- not on every platform

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        msg = "another process uses it"
        raise OSError(msg) from error
