"""The engine is found, or the error says what to do."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from interlock.graph.models.embedded import EmbeddedChatModel
from interlock.graph.models.embedded.engine_files import engine_folder
from interlock.state.errors import MissingExtraError


def packaged(folder: Path, *files: str) -> Path:
    package = folder / "needle"
    package.mkdir()
    for name in ("__init__.py", *files):
        (package / name).touch()
    return folder


@pytest.fixture(autouse=True)
def not_imported_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that a test before this one imported is found whatever the path says."""
    monkeypatch.delitem(sys.modules, "needle", raising=False)


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(MissingExtraError, match=r"interlock\[embedded\].*another model") as caught:
        EmbeddedChatModel()
    assert caught.value.extra == "embedded"


@pytest.mark.parametrize("files", [[], ["needle3.cact"], ["libneedle3.so"]])
def test_a_package_without_its_engine_is_no_engine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, files: list[str]
) -> None:
    monkeypatch.setattr(sys, "path", [str(packaged(tmp_path, *files))])
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(MissingExtraError, match="no engine for"):
        engine_folder()


@pytest.mark.parametrize(
    ("platform", "library"),
    [
        ("linux", "libneedle3.so"),
        ("darwin", "libneedle3.dylib"),
        ("win32", "libneedle3.dll"),
    ],
)
def test_the_folder_of_a_whole_package_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, library: str
) -> None:
    monkeypatch.setattr(sys, "path", [str(packaged(tmp_path, library, "needle3.cact"))])
    monkeypatch.setattr(sys, "platform", platform)
    assert engine_folder() == tmp_path
