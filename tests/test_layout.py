"""The four top-level folders are one namespace, and only under its name."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import interlock.graph

ROOT = Path(__file__).resolve().parents[1]
LINKS = ROOT / ".layout" / "interlock"
FOLDERS = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
TOOL: dict[str, Any] = SETTINGS["tool"]


def run_ruff(source: str, *, select: str, file: str) -> subprocess.CompletedProcess[str]:
    """Check `source` with the project's settings as if it stood in `file`."""
    ruff = Path(sys.executable).with_name("ruff")
    settings = ["--no-cache", "--select", select, "--stdin-filename", file]
    command = [str(ruff), "check", *settings, "-"]
    return subprocess.run(
        command, input=source, cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_four_folders_are_packages() -> None:
    assert FOLDERS == ["graph", "middleware", "state", "tools"]


def test_every_folder_has_its_link() -> None:
    links = {link.name: link.readlink().as_posix() for link in LINKS.iterdir()}

    assert links == {name: f"../../{name}" for name in FOLDERS}


def test_links_are_committed_as_links() -> None:
    command = ["git", "ls-files", "--stage", "--", ".layout"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    modes = {line.split("/")[-1]: line.split()[0] for line in listed.stdout.splitlines()}
    assert modes == dict.fromkeys(FOLDERS, "120000")


def test_wheel_and_sdist_take_every_folder() -> None:
    # Under `targets.wheel` the sdist would walk the links first and leave the folders out.
    assert sorted(TOOL["hatch"]["build"]["only-include"]) == FOLDERS


def test_pyright_checks_every_folder() -> None:
    assert sorted(TOOL["pyright"]["include"]) == sorted([*FOLDERS, "tests"])


def test_ruff_bans_the_bare_name_of_every_folder() -> None:
    banned = TOOL["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]

    assert set(FOLDERS) <= set(banned)


def test_ruff_allows_relative_imports_in_every_folder() -> None:
    patterns: dict[str, list[str]] = TOOL["ruff"]["lint"]["per-file-ignores"]

    [library] = [pattern for pattern, rules in patterns.items() if "TID251" in rules]
    assert sorted(re.findall(r"\w+", library)) == FOLDERS


@pytest.mark.parametrize("folder", FOLDERS)
def test_ruff_refuses_a_bare_import_in_tests(folder: str) -> None:
    found = run_ruff(f"import {folder}\n", select="TID251", file="tests/test_x.py")

    assert f"import interlock.{folder}" in found.stdout


def test_ruff_accepts_a_relative_import_in_the_library() -> None:
    # Ruff takes `.routing` for `graph.routing`, whose bare name is banned.
    source = "from .routing import next_step\n"

    assert run_ruff(source, select="TID251", file="graph/agent.py").returncode == 0


def test_ruff_sorts_interlock_behind_third_parties() -> None:
    source = "import pytest\n\nimport interlock.graph\n"

    assert run_ruff(source, select="I", file="tests/test_x.py").returncode == 0


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_says_that_it_is_typed(folder: str) -> None:
    assert (ROOT / folder / "py.typed").is_file()


def test_every_folder_with_modules_is_a_package() -> None:
    modules = [path for name in FOLDERS for path in (ROOT / name).rglob("*.py")]

    assert [path for path in modules if not (path.parent / "__init__.py").is_file()] == []


def test_interlock_is_a_namespace() -> None:
    # An `__init__.py` here, or in any other distribution, would hide the four folders.
    spec = importlib.util.find_spec("interlock")

    assert spec is not None
    assert spec.origin is None
    assert list(ROOT.glob("__init__.py")) == []


def test_the_namespace_reads_the_links() -> None:
    assert Path(interlock.graph.__file__).parent == LINKS / "graph"


@pytest.mark.parametrize("folder", FOLDERS)
def test_bare_name_is_unknown_elsewhere(folder: str, tmp_path: Path) -> None:
    code = f"import importlib.util as u; print(u.find_spec({folder!r}))"
    command = [sys.executable, "-P", "-c", code]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "None"


@pytest.mark.parametrize("folder", FOLDERS)
def test_bare_name_is_unknown_to_the_tests(folder: str) -> None:
    # `python -m pytest` puts the root on the path, pytest's prepend mode puts `tests` there.
    assert importlib.util.find_spec(folder) is None


def test_tests_are_not_packages() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []


def test_pytest_puts_no_folder_on_the_path() -> None:
    assert "--import-mode=importlib" in TOOL["pytest"]["addopts"]
    assert "pythonpath" not in TOOL["pytest"]
