"""Imports run one way: state, then tools, then middleware, then graph."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
ORDER = ["state", "tools", "middleware", "graph"]
OPTIONAL = [
    "aiosqlite",
    "dotenv",
    "langchain",
    "langgraph.checkpoint.postgres",
    "langgraph.checkpoint.sqlite",
    "mcp",
    "needle",
    "opentelemetry",
    "presidio_analyzer",
    "psycopg",
    "pyarrow",
    "rich",
    "starlette",
    "typer",
    "uvicorn",
]


def imported(source: str, module: str) -> Iterator[str]:
    """Name every module that the file `module` (dotted, a file in its package) imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def faults(source: str, module: str) -> list[str]:
    """Say what the imports of the library file `module` break."""
    folder = module.split(".")[1]
    later = {f"interlock.{name}" for name in ORDER[ORDER.index(folder) + 1 :]}
    found = set(imported(source, module))
    upward = {".".join(name.split(".")[:2]) for name in found} & later
    foreign = {name for name in found if name.split(".")[0] in {"langchain", *ORDER}}
    return [f"{module} imports {name}" for name in sorted(upward | foreign)]


def library() -> Iterator[tuple[str, str]]:
    """Give source and dotted name of every file of the library."""
    for folder in ORDER:
        for path in sorted((ROOT / folder).rglob("*.py")):
            dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            yield path.read_text("utf-8"), f"interlock.{dotted}"


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("interlock.state.schema", "from ..graph import agent"),
        ("interlock.state.schema", "from .. import tools"),
        ("interlock.tools.execution", "def f():\n    import interlock.middleware.base"),
        ("interlock.graph.models.scripted", "import langchain.agents"),
        ("interlock.graph.models.scripted", "from langchain import agents"),
        ("interlock.graph.agent", "import state.schema"),
    ],
)
def test_an_import_against_the_order_is_found(module: str, source: str) -> None:
    assert faults(source, module)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("interlock.graph.agent", "from ..state import schema\nfrom ..middleware import base"),
        ("interlock.graph.models.scripted", "from ...state.errors import InterlockError"),
        ("interlock.tools.execution", "import langchain_core.tools\nfrom . import tools"),
    ],
)
def test_an_import_along_the_order_is_no_fault(module: str, source: str) -> None:
    assert faults(source, module) == []


def test_imports_run_one_way() -> None:
    assert [fault for source, module in library() for fault in faults(source, module)] == []


def test_the_library_names_itself_relatively() -> None:
    absolute = [
        module
        for source, module in library()
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.ImportFrom) and not node.level)
        and (node.module or "").split(".")[0] == "interlock"
    ]

    assert absolute == []


def dependencies() -> set[str]:
    """Name what the project declares for its users, and what those always bring along."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {name: v for name, v in project["optional-dependencies"].items() if name != "dev"}
    lines = [*project["dependencies"], *(line for extra in extras.values() for line in extra)]
    declared = {Requirement(line).name for line in lines}
    brought = [Requirement(line) for name in declared for line in requires(name) or []]
    return declared | {line.name for line in brought if "extra" not in str(line.marker)}


def test_every_import_comes_with_a_declared_dependency() -> None:
    names = {
        name.split(".")[0] for source, module in library() for name in imported(source, module)
    }
    provided = packages_distributions()
    known = {canonicalize_name(name) for name in dependencies()}

    assert [
        name
        for name in sorted(names - sys.stdlib_module_names - {"interlock"})
        if known.isdisjoint(map(canonicalize_name, provided.get(name, [])))
    ] == []


@pytest.mark.slow
def test_importing_the_library_needs_no_extra(tmp_path: Path) -> None:
    # A name that stands for nothing cannot be imported, as if its extra were not installed.
    modules = ", ".join(f"interlock.{folder}" for folder in ORDER)
    code = f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL})); import {modules}"
    command = [sys.executable, "-P", "-c", code]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert run.stderr == ""
    assert run.returncode == 0
