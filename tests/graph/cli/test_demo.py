"""`interlock demo` as a newcomer runs it: a process, the embedded model, an exit code."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # runs the tour

COMMAND = Path(sys.executable).with_name("interlock")


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(COMMAND), *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def demo(place: Path) -> subprocess.CompletedProcess[str]:
    """The demo, run once for all tests of this file."""
    return run("demo", cwd=place)


def test_every_step_does_what_it_claims_on_the_embedded_model(
    demo: subprocess.CompletedProcess[str],
) -> None:
    assert demo.stderr == ""
    assert "FAILED" not in demo.stdout
    assert demo.returncode == 0


def test_what_is_piped_is_plain(demo: subprocess.CompletedProcess[str]) -> None:
    assert "\x1b" not in demo.stdout
    assert all(line == line.rstrip() for line in demo.stdout.splitlines())


def test_the_pictures_lie_beside(demo: subprocess.CompletedProcess[str], place: Path) -> None:
    assert "demo-output/password-guard.svg" in demo.stdout
    for name in ("password-guard", "password-guard-hooks"):
        ET.parse(place / "demo-output" / f"{name}.svg")  # noqa: S314 - our own file
        assert "flowchart" in (place / "demo-output" / f"{name}.mmd").read_text("utf-8")


def test_a_model_that_does_not_exist_is_named(tmp_path: Path) -> None:
    result = run("demo", "--model", "nowhere:nothing", cwd=tmp_path)

    assert result.returncode == 2
    assert "'nowhere'" in result.stderr
    assert "Traceback" not in result.stderr
