"""Names that load their module when they are first asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from interlock.state.lazy import lazy_names

LATE = [
    "httpcore",
    "interlock.graph.models",
    "interlock.middleware.pii",
    "jinja2",
    "jsonschema",
    "yaml",
]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package with a module that is named and one that is taken whole."""
    home = tmp_path / "lazy_package"
    home.mkdir()
    (home / "__init__.py").touch()
    (home / "named.py").write_text("one, other = 1, 2")
    (home / "whole.py").write_text("__all__ = ['two']\ntwo, hidden = 2, 3")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "lazy_package", __import__("lazy_package"))
    for name in ("named", "whole"):
        monkeypatch.delitem(sys.modules, f"lazy_package.{name}", raising=False)
    return "lazy_package"


def test_a_module_is_loaded_when_its_name_is_asked_for(package: str) -> None:
    load, _ = lazy_names(package, {"named": ["one"]})

    assert f"{package}.named" not in sys.modules
    assert load("one") == 1
    assert f"{package}.named" in sys.modules


def test_all_names_of_a_module_can_be_meant(package: str) -> None:
    load, listed = lazy_names(package, {"whole": None})

    assert (load("two"), load("__all__")) == (2, ["two"])
    assert "two" in listed()


@pytest.mark.parametrize("name", ["other", "hidden", "missing"])
def test_any_other_name_is_missing(package: str, name: str) -> None:
    load, _ = lazy_names(package, {"named": ["one"], "whole": None})

    with pytest.raises(AttributeError, match=f"'lazy_package' has no attribute '{name}'"):
        load(name)


def test_names_that_python_looks_for_load_nothing(package: str) -> None:
    load, _ = lazy_names(package, {"whole": None})

    with pytest.raises(AttributeError):
        load("__wrapped__")
    assert f"{package}.whole" not in sys.modules


def test_an_agent_with_a_middleware_loads_only_what_it_needs() -> None:
    program = (
        "import sys; from interlock.graph import create_agent; from interlock.middleware import "
        f"AgentMiddleware, before_model; print([m for m in {LATE} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n"
