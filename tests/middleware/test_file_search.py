from __future__ import annotations

import json
import os
import stat
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.middleware import FilesystemFileSearchMiddleware
from interlock.middleware.file_search import NO_FILES, NO_MATCHES
from interlock.state import ConfigurationError

Tool = Callable[..., str]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    for number, name in enumerate(["a.py", "src/b.py", "src/c.txt"]):
        (root / name).write_text(f"needle {number}\nhay\nneedle again\n")
        os.utime(root / name, (1_000 + number, 1_000 + number))
    (tmp_path / "secret.txt").write_text("needle outside")
    return root


@pytest.fixture
def search(root: Path) -> Callable[..., FilesystemFileSearchMiddleware]:
    def make(**options: Any) -> FilesystemFileSearchMiddleware:
        settings: dict[str, Any] = {"root_path": root, "use_ripgrep": False, **options}
        return FilesystemFileSearchMiddleware(**settings)

    return make


@pytest.fixture
def glob(search: Any) -> Tool:
    return search().glob_search.func  # type: ignore[no-any-return]


@pytest.fixture
def grep(search: Any) -> Tool:
    return search().grep_search.func  # type: ignore[no-any-return]


def test_files_come_newest_first(glob: Tool) -> None:
    assert glob("**/*") == "/src/c.txt\n/src/b.py\n/a.py"
    assert glob("*.{py,txt}", "/src") == "/src/c.txt\n/src/b.py"


def test_lines_files_and_counts(grep: Tool) -> None:
    assert grep("needle") == "/a.py\n/src/b.py\n/src/c.txt"
    assert grep("again$", "/src", "*.py", "content") == "/src/b.py:3:needle again"
    assert grep("needle", include="*.{py,md}", output_mode="count") == "/a.py:2\n/src/b.py:2"


@pytest.mark.parametrize("path", ["..", "/../", "~", "/nothing", "C:\\", "/src/../..", "a.py"])
def test_outside_looks_like_nothing(glob: Tool, grep: Tool, path: str) -> None:
    assert glob("**/*", path) == NO_FILES
    assert grep("needle", path) == NO_MATCHES


@pytest.mark.parametrize("pattern", ["../*", "/../*", "~/*", "src/../../*", "{..,x}/*", "a\0", ""])
def test_pattern_that_leads_out_finds_nothing(glob: Tool, pattern: str) -> None:
    assert glob(pattern) == NO_FILES


@pytest.mark.parametrize("pattern", ["(a+)+$", "(x*)*y", ".*.*.*.*z", "[", "(a|b|ab)*c"])
def test_dangerous_expression_is_refused(grep: Tool, pattern: str) -> None:
    assert grep(pattern).startswith("Invalid regex pattern: ")


def test_hostile_line_ends_the_search_in_time(search: Any, root: Path) -> None:
    (root / "bait.txt").write_text("a" * 3_000_000)
    began = time.perf_counter()
    answer = search(time_limit_s=0.2).grep_search.func(r"\w+@")

    assert answer.startswith(NO_MATCHES)
    assert "stopped after 0.2 s" in answer
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("pattern", ["(ж|.)+!", "a*a*-" * 8 + "x"])
def test_expression_that_hangs_is_not_tried(grep: Tool, root: Path, pattern: str) -> None:
    (root / "bait.txt").write_text("ж" * 60 + ("a" * 15 + "-") * 60)

    assert grep(pattern).startswith("Invalid regex pattern: ")


@pytest.mark.parametrize("pattern", ["a*(?=a*b)!", "(?:(?!a*b)a)*c", "a*a*b"])
def test_slow_expression_ends_at_the_time_limit(search: Any, root: Path, pattern: str) -> None:
    (root / "bait.txt").write_text("a" * 1_000_000)
    began = time.perf_counter()
    answer = search(time_limit_s=0.2).grep_search.func(pattern)

    assert "stopped after 0.2 s" in answer
    assert time.perf_counter() - began < 5


def test_search_keeps_no_more_than_it_answers(grep: Tool, root: Path) -> None:
    (root / "many.txt").write_text("x marks the spot\n" * 300_000)
    tracemalloc.start()
    try:
        answer = grep("x", output_mode="content")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert answer.endswith("[more than 1000; narrow the search]")
    assert peak < 15_000_000


def test_newest_files_are_told_of_many(glob: Tool, root: Path) -> None:
    for number in range(1_100):
        (root / f"{number}.md").touch()
        os.utime(root / f"{number}.md", (number, number))
    lines = glob("*.md").splitlines()

    assert lines[0] == "/1099.md"
    assert lines[-2:] == ["/100.md", "[more than 1000; narrow the search]"]


def test_binary_and_large_files_are_skipped(search: Any, root: Path) -> None:
    (root / "binary.bin").write_bytes(b"needle\0needle")
    (root / "large.txt").write_text("needle " * 300_000)
    grep = search(max_file_size_mb=1).grep_search.func

    assert grep("needle") == "/a.py\n/src/b.py\n/src/c.txt"


def test_text_in_another_encoding_is_searched(grep: Tool, root: Path) -> None:
    (root / "latin.txt").write_bytes("café needle".encode("latin-1"))

    assert "/latin.txt" in grep("needle")


def test_many_and_long_lines_are_cut_with_a_note(grep: Tool, root: Path) -> None:
    (root / "many.txt").write_text(f"{'x' * 600}\n" * 1_500)
    lines = grep("x", output_mode="content").splitlines()

    assert len(lines) == 1_001
    assert lines[-1] == "[more than 1000; narrow the search]"
    assert len(lines[0]) == 500


@pytest.fixture
def ripgrep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Install a program named rg that answers with a text and keeps its arguments."""

    def install(answer: str, code: int = 0) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "rg"
        seen = tmp_path / "arguments"
        program.write_text(
            f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {seen}\ncat <<'END'\n{answer}\nEND\nexit {code}\n"
        )
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
        return seen

    return install


def match(path: Path, line: int, text: str) -> str:
    data = {"path": {"text": str(path)}, "line_number": line, "lines": {"text": text}}
    return json.dumps({"type": "match", "data": data})


def test_ripgrep_is_asked_without_room_for_options(search: Any, root: Path, ripgrep: Any) -> None:
    outside = match(root.parent / "secret.txt", 1, "needle outside")
    seen = ripgrep(f"{match(root / 'a.py', 1, 'needle 0')}\n{outside}\nnonsense")
    grep = search(use_ripgrep=True).grep_search.func

    assert grep("--files", output_mode="content") == "/a.py:1:needle 0"
    arguments = seen.read_text().splitlines()
    assert arguments[-3:] == ["--", "--files", str(root)]
    assert "--no-follow" in arguments


def test_expression_that_ripgrep_refuses_is_searched_without_it(search: Any, ripgrep: Any) -> None:
    ripgrep("", code=2)

    assert search(use_ripgrep=True).grep_search.func("needle") == "/a.py\n/src/b.py\n/src/c.txt"


@pytest.fixture
def endless(ripgrep: Any, tmp_path: Path) -> Callable[[str], None]:
    """Install a program named rg that ends only when it is ended."""

    def install(action: str) -> None:
        ripgrep("")
        (tmp_path / "bin" / "rg").write_text(f"#!/bin/sh\nwhile true; do {action}; done\n")

    return install


def test_ripgrep_is_ended_when_enough_is_found(search: Any, root: Path, endless: Any) -> None:
    endless(f"echo '{match(root / 'a.py', 1, 'needle')}'")
    grep = search(use_ripgrep=True, time_limit_s=60).grep_search.func
    began = time.perf_counter()
    lines = grep("needle", output_mode="content").splitlines()

    assert lines[1_000:] == ["[more than 1000; narrow the search]"]
    assert time.perf_counter() - began < 30


def test_ripgrep_is_ended_at_the_time_limit(search: Any, endless: Any) -> None:
    endless(":")
    grep = search(use_ripgrep=True, time_limit_s=0.3).grep_search.func
    began = time.perf_counter()

    assert grep("needle").endswith("[stopped after 0.3 s; the search is not complete]")
    assert time.perf_counter() - began < 10


def test_ripgrep_does_not_begin_behind_a_link(search: Any, root: Path, ripgrep: Any) -> None:
    seen = ripgrep(match(root / "a.py", 1, "needle"))
    (root / "door").symlink_to(root.parent)

    assert search(use_ripgrep=True).grep_search.func("needle", "/door") == NO_MATCHES
    assert not seen.exists()


@pytest.mark.parametrize(
    "settings", [{"max_file_size_mb": 0}, {"time_limit_s": 0}, {"root_path": "/nothing/here"}]
)
def test_wrong_setting_is_refused(search: Any, settings: Any) -> None:
    with pytest.raises(ConfigurationError):
        search(**settings)
