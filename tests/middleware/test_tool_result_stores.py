from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.memory import InMemoryStore

from interlock.middleware import FileSystemToolResultStore, LangGraphToolResultStore
from interlock.middleware.tool_result_stores import checked_key, checked_store, result_key
from interlock.state.errors import ConfigurationError, StorageError

OUTSIDE = [
    "../secret",
    "a/../../secret",
    "/etc/passwd",
    "a//b",
    "a/./b",
    "..",
    "",
    "a/",
    "a\\..\\b",
    "C:x",
    "a\x00b",
    ".hidden",
    "a" * 500,
    "a\nb",
]


@pytest.fixture(params=["files", "langgraph"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "files":
        return FileSystemToolResultStore(tmp_path / "results")
    return LangGraphToolResultStore(InMemoryStore())


@pytest.mark.parametrize("content", ["plain ä €", "", b"\x89PNG\x00\xff"])
def test_content_comes_back_as_it_went(store: Any, content: str | bytes) -> None:
    reference = store.write("thread/1_t_c.txt", content)

    assert store.read(reference) == content


@pytest.mark.parametrize("key", OUTSIDE)
def test_keys_that_lead_elsewhere_are_refused(store: Any, key: str) -> None:
    with pytest.raises(StorageError):
        store.write(key, "x")
    with pytest.raises(StorageError):
        store.read(key)


def test_what_is_not_there_is_an_error_of_ours(store: Any) -> None:
    with pytest.raises(StorageError, match="nothing"):
        store.read("nothing")


def test_text_that_no_file_can_hold_is_made_storable(tmp_path: Path) -> None:
    store = FileSystemToolResultStore(tmp_path)

    assert store.read(store.write("k", "a\ud800b")) == "a?b"


def test_no_file_is_written_twice(tmp_path: Path) -> None:
    store = FileSystemToolResultStore(tmp_path)
    store.write("k", "first")

    with pytest.raises(StorageError):
        store.write("k", "second")
    assert store.read("k") == "first"


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    FileSystemToolResultStore(tmp_path / "r").write("thread/k", "x")

    assert stat.S_IMODE((tmp_path / "r/thread/k").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "r/thread").stat().st_mode) == 0o700


def test_link_to_a_folder_outside_is_not_followed(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    (outside / "secret").write_text("s")
    (root / "link").symlink_to(outside)
    store = FileSystemToolResultStore(root)

    with pytest.raises(StorageError, match="out of the store"):
        store.read("link/secret")
    with pytest.raises(StorageError, match="out of the store"):
        store.write("link/new", "x")
    assert not (outside / "new").exists()


def test_link_to_a_file_outside_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    root = tmp_path / "root"
    root.mkdir()
    (root / "k").symlink_to(tmp_path / "secret")
    store = FileSystemToolResultStore(root)

    with pytest.raises(StorageError):
        store.read("k")
    with pytest.raises(StorageError):
        store.write("k", "x")
    assert (tmp_path / "secret").read_text() == "s"


def test_folder_is_no_result(tmp_path: Path) -> None:
    store = FileSystemToolResultStore(tmp_path)
    store.write("thread/k", "x")

    with pytest.raises(StorageError):
        store.read("thread")


@given(folder=st.none() | st.text(), parts=st.lists(st.text(), max_size=4))
def test_every_key_made_is_accepted_and_new(folder: str | None, parts: list[str]) -> None:
    first, second = result_key(folder, parts), result_key(folder, parts)

    assert first != second
    assert len(checked_key(first)) == (1 if folder is None else 2)


def test_threads_have_folders_of_their_own() -> None:
    store = InMemoryStore()
    LangGraphToolResultStore(store).write(result_key("t1", ["a"]), "x")

    assert store.list_namespaces() == [("tool_results", "t1")]


class Asynchronous:
    async def write(self, key: str, content: str) -> str:
        return key + content

    def read(self, reference: str) -> str:
        return reference


@pytest.mark.parametrize("wrong", ["folder", object(), Asynchronous()])
def test_store_has_two_plain_methods(wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match="plain method"):
        checked_store(wrong)
