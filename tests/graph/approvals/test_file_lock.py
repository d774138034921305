"""A lock that other processes respect, and that ends with its process."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import interlock.graph.approvals.file_lock as file_lock_module
from interlock.graph.approvals.file_lock import file_lock

pytest.importorskip("fcntl")

PROGRAM = """
import runpy, sys, time
from pathlib import Path
file_lock = runpy.run_path(sys.argv[2])["file_lock"]  # alone, it is there at once
with file_lock(Path(sys.argv[1])) as ours:
    print(ours, flush=True)
    time.sleep(60)
"""


def test_lock_is_held_once_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with file_lock(path) as first, file_lock(path) as second:
        assert (first, second) == (True, False)
        assert path.stat().st_mode & 0o777 == 0o600
    with file_lock(path) as again:
        assert again
    assert list(tmp_path.iterdir()) == []


def test_lock_of_a_process_that_was_killed_is_free(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-P", "-c", PROGRAM, str(path), file_lock_module.__file__]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        with file_lock(path) as ours:
            assert not ours
        other.send_signal(signal.SIGKILL)
        other.wait(20)
    with file_lock(path) as ours:
        assert ours


def test_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)), file_lock(tmp_path / "lock"):
        pass
    assert not (tmp_path / "target").exists()
