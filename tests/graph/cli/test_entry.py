"""The `interlock` command itself: what it says before any command runs."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from pkgutil import iter_modules

import pytest
from typer.testing import CliRunner

from interlock.graph.cli import commands
from interlock.graph.cli.app import build_app


def start(code: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, after `code`."""
    script = f"{code}; from interlock.graph.cli import main; main()"
    command = [sys.executable, "-P", "-c", script, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("module", ["typer", "rich"])
def test_without_its_extra_the_command_says_what_to_install(tmp_path: Path, module: str) -> None:
    result = start(f"import sys; sys.modules[{module!r}] = None", "demo", cwd=tmp_path)

    assert result.returncode == 2
    assert result.stderr == (
        "The interlock command needs the extra 'cli': pip install 'interlock[cli]'.\n"
    )


def test_without_the_embedded_model_the_demo_says_so(tmp_path: Path) -> None:
    result = start("import sys; sys.modules['needle'] = None", "demo", cwd=tmp_path)

    assert result.returncode == 2
    assert "interlock[embedded]" in result.stderr
    assert "Traceback" not in result.stderr


def test_every_file_of_the_folder_is_a_command() -> None:
    shown = CliRunner().invoke(build_app(), ["--help"]).output

    assert all(found.name.replace("_", "-") in shown for found in iter_modules(commands.__path__))


def test_the_version_is_that_of_the_package() -> None:
    result = CliRunner().invoke(build_app(), ["--version"])

    assert result.output == f"interlock {version('interlock')}\n"
    assert result.exit_code == 0


def test_an_unknown_command_is_refused() -> None:
    result = CliRunner().invoke(build_app(), ["nothing"])

    assert result.exit_code == 2
    assert "nothing" in result.output


def test_a_terminal_without_the_letter_gets_an_escape(tmp_path: Path) -> None:
    code = (
        "import sys; sys.stdout.reconfigure(encoding='ascii'); "
        "sys.modules['interlock.graph.cli.app'] = type(sys)('app'); "
        "sys.modules['interlock.graph.cli.app'].build_app = lambda: lambda: print('日')"
    )

    assert start(code, cwd=tmp_path).stdout == "\\u65e5\n"
