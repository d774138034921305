from __future__ import annotations

from pathlib import Path

import pytest

from interlock.graph.cli.talk import open_thread
from interlock.state.errors import StorageError


async def test_a_file_of_another_kind_is_refused_and_kept(tmp_path: Path) -> None:
    (path := tmp_path / "notes.txt").write_text("not a database " * 100)
    with pytest.raises(StorageError, match="file is not a database"):
        async with open_thread(path):
            pass
    assert path.read_text().startswith("not a database")


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file or directory"):
        async with open_thread(tmp_path / "no" / "thread.sqlite"):
            pass
