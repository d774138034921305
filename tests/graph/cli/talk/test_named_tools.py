from __future__ import annotations

import sys
from pathlib import Path

import pytest

from interlock.graph.cli.talk import named_tools
from interlock.state.errors import ConfigurationError

MODULE = '''
def one() -> int:
    """Give one."""
    return 1

both = [one, one]
number = 1
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_names_in_the_current_folder_are_imported(folder: Path) -> None:
    (folder / "own_named_tools.py").write_text(MODULE)
    names = ["own_named_tools:one", "own_named_tools:both"]
    assert [tool.__name__ for tool in named_tools(names)] == ["one", "one", "one"]  # type: ignore[union-attr]


def test_the_current_folder_hides_no_installed_module(folder: Path) -> None:
    (folder / "colorsys.py").write_text("raise RuntimeError")
    sys.modules.pop("colorsys", None)
    assert named_tools(["colorsys:rgb_to_hsv"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("one", "Write it like"),
        ("a b:c", "Write it like"),
        ("missing_module:one", "No module named"),
        ("broken_named_tools:one", "ZeroDivisionError"),
        ("json:none", "has no 'none'"),
        ("sys:maxsize", "is a int, not a tool"),
    ],
)
def test_what_is_no_tool_is_refused(folder: Path, name: str, words: str) -> None:
    (folder / "broken_named_tools.py").write_text("1 / 0")
    with pytest.raises(ConfigurationError, match=words):
        named_tools([name])
