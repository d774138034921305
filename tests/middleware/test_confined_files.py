from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.middleware.confined_files import ConfinedFiles
from interlock.state import ConfigurationError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with files, beside a folder with secrets whose name begins the same."""
    root = tmp_path / "root"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "a.txt").write_text("inside")
    (root / "src" / "deep" / "b.txt").write_text("inside")
    (tmp_path / "root2").mkdir()
    (tmp_path / "root2" / "secret.txt").write_text("outside")
    return root


def contents(files: ConfinedFiles, path: str = "/") -> dict[str, bytes]:
    parts = files.parts_of(path)
    return {} if parts is None else {f.path: f.read() for f in files.walk(parts)}


def test_files_are_found_and_read(root: Path) -> None:
    assert contents(ConfinedFiles(root)) == {"/src/a.txt": b"inside", "/src/deep/b.txt": b"inside"}
    assert contents(ConfinedFiles(root), "src/deep/") == {"/src/deep/b.txt": b"inside"}


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "/../root2",
        "src/../../root2",
        "~",
        "~/x",
        "C:\\x",
        "c:/x",
        "\\\\host\\share",
        "a\0b",
        "a\n",
    ],
)
def test_path_that_leads_elsewhere_is_none(root: Path, path: str) -> None:
    assert ConfinedFiles(root).parts_of(path) is None


@pytest.mark.parametrize("path", ["src..old", "/[...slug]", "...", "a:b", "/src/./a"])
def test_odd_names_are_names(root: Path, path: str) -> None:
    assert ConfinedFiles(root).parts_of(path) is not None


def test_links_lead_nowhere(root: Path) -> None:
    (root / "door").symlink_to(root.parent / "root2")
    (root / "peek.txt").symlink_to(root.parent / "root2" / "secret.txt")
    (root / "src" / "loop").symlink_to(root)
    files = ConfinedFiles(root)

    assert set(contents(files)) == {"/src/a.txt", "/src/deep/b.txt"}
    assert contents(files, "/door") == contents(files, "/src/loop/src") == {}


def test_link_put_in_the_way_of_a_found_file_is_not_read(root: Path) -> None:
    (found,) = ConfinedFiles(root).walk(("src", "deep"))
    walk = ConfinedFiles(root).walk(("src", "deep"))
    found = next(walk)
    (root / "src" / "deep" / "b.txt").unlink()
    (root / "src" / "deep" / "b.txt").symlink_to(root.parent / "root2" / "secret.txt")

    with pytest.raises(OSError, match=r"symbolic|[Ll]oop|links"):
        found.read()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_pipe_is_no_file(root: Path) -> None:
    os.mkfifo(root / "src" / "pipe")

    assert "/src/pipe" not in contents(ConfinedFiles(root))


@given(
    st.lists(st.sampled_from(["..", ".", "", "/", "~", "src", "root2", "secret.txt", "\\", "deep"]))
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_path_reaches_what_is_outside(root: Path, parts: list[str]) -> None:
    assert b"outside" not in contents(ConfinedFiles(root), "/".join(parts)).values()


def test_missing_folder_is_refused_and_missing_path_is_empty(root: Path) -> None:
    with pytest.raises(ConfigurationError, match="no folder"):
        ConfinedFiles(root / "nothing")
    assert contents(ConfinedFiles(root), "/nothing") == {}


def test_walk_ends_between_folders_without_files(tmp_path: Path) -> None:
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c" / "file").touch()
    asked: list[None] = []

    def must_end() -> bool:
        asked.append(None)
        return len(asked) == 3

    assert list(ConfinedFiles(tmp_path).walk((), must_end)) == []
    assert len(asked) == 3
