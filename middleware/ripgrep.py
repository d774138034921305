"""Lines found by the program ``rg``, read while it runs and ended when enough is known."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_FOUND_OR_NOT = {0, 1}


def search_with_ripgrep(
    arguments: Sequence[str], root: Path, seconds: float
) -> Generator[tuple[str, int, str]]:
    """Path from the root, line number and line of each match, one by one.

    The program ends when the caller wants no more, and when the time is over.

    Args:
        arguments: What to search for, and where.
        root: The folder that paths are told from; what lies outside is left out.
        seconds: Longest run.

    Raises:
        OSError: The program is not there.
        subprocess.CalledProcessError: It does not understand what to search for, or failed.
    """
    command = ["rg", "--json", "--no-config", "--no-follow", "--hidden", "--no-ignore"]
    command += ["--sort", "path", *arguments]
    with _running(command, seconds) as (process, was_ended):
        for line in process.stdout or ():
            found = _read(line, root)
            if found is not None:
                yield found
        code = process.wait()
    if code not in _FOUND_OR_NOT and not was_ended.is_set():
        raise subprocess.CalledProcessError(code, command)


@contextmanager
def _running(
    command: Sequence[str], seconds: float
) -> Generator[tuple[subprocess.Popen[bytes], threading.Event]]:
    was_ended = threading.Event()
    process = subprocess.Popen(  # noqa: S603 - no shell; the pattern stands behind "--"
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )

    def end() -> None:
        was_ended.set()
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield process, was_ended
    finally:
        timer.cancel()
        process.kill()
        with process:
            pass


def _read(line: bytes, root: Path) -> tuple[str, int, str] | None:
    with suppress(ValueError, KeyError, TypeError):
        event: Any = json.loads(line)
        if event["type"] == "match":
            found = event["data"]
            inside = Path(found["path"]["text"]).relative_to(root)
            text = str(found["lines"]["text"]).rstrip("\r\n")
            return "/" + inside.as_posix(), int(found["line_number"]), text
    return None
