from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlock.graph.cli.talk import read_dotenv
from interlock.state.errors import ConfigurationError


def test_variables_are_set_unless_they_are_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {"TAKEN": "before"})
    (tmp_path / ".env").write_text('TAKEN=after\nNEW="a ${TAKEN}"\n')
    read_dotenv(tmp_path)
    assert os.environ == {"TAKEN": "before", "NEW": "a ${TAKEN}"}


def test_folders_above_are_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {})
    (tmp_path / ".env").write_text("NEW=1")
    (inner := tmp_path / "inner").mkdir()
    read_dotenv(inner)
    assert os.environ == {}


def test_an_unreadable_file_is_refused_without_its_content(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"KEY=secret\xff")
    with pytest.raises(ConfigurationError, match="NAME=value in UTF-8") as caught:
        read_dotenv(tmp_path)
    assert "secret" not in str(caught.value)
