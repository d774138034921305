"""A lock on a file that other processes respect, and that ends with the process that holds it."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def file_lock(path: Path) -> Generator[bool]:
    """Whether the lock is ours until the block ends; nobody waits for it.

    The file is there only while somebody holds the lock. Systems without ``flock`` (Windows) keep
    no processes apart.

    Args:
        path: A file of its own, in a folder that the process may write.

    Raises:
        OSError: The file cannot be made.
    """
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        yield True
        return
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            yield False
            return
        if _is_still(path, handle):
            break
        # Its last holder removed it between our two calls: lock the one that is there now.
        os.close(handle)
    try:
        yield True
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _is_still(path: Path, handle: int) -> bool:
    try:
        return path.stat().st_ino == os.fstat(handle).st_ino
    except FileNotFoundError:
        return False
