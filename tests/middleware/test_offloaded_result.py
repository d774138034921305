from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from interlock.middleware import FileSystemToolResultStore
from interlock.middleware.flows import drive
from interlock.middleware.offloaded_result import OFFLOADED, offload, parts_of
from interlock.tools.results import cut_message

PNG = b"\x89PNG\x00"
ENCODED = b64encode(PNG).decode()


@pytest.fixture
def store(tmp_path: Path) -> FileSystemToolResultStore:
    return FileSystemToolResultStore(tmp_path)


def result(content: Any, **fields: Any) -> ToolMessage:
    return ToolMessage(content, tool_call_id="c", name="t", id="m", **fields)


def moved(message: ToolMessage, store: Any) -> Any:
    parts = parts_of(message, store)
    return parts and drive(offload(message, parts, store, ("th", ["t"]), 5), lambda _: None)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "base64": ENCODED, "mime_type": "image/png"},
        {"type": "image", "source_type": "base64", "data": ENCODED, "mime_type": "image/png"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{ENCODED}"}},
        {"type": "image_url", "image_url": f"data:image/png;base64,{ENCODED}"},
    ],
)
def test_images_in_any_notation_are_stored_as_bytes(store: Any, block: Any) -> None:
    pointer = moved(result([block]), store)
    [reference] = pointer.response_metadata[OFFLOADED]

    assert store.read(reference) == PNG
    assert reference.endswith(".png")
    assert f"image/png ({len(PNG)} bytes) at '{reference}'" in pointer.text


def test_every_part_has_its_own_entry(store: Any) -> None:
    file = {"type": "file", "base64": ENCODED, "mime_type": "x/y", "filename": "../../a.pdf"}
    pointer = moved(result(["words here", {"type": "text", "text": "more"}, file]), store)
    [first, second, third] = pointer.response_metadata[OFFLOADED]

    assert [store.read(r) for r in (first, second, third)] == ["words here", "more", PNG]
    assert third.endswith(".pdf")
    assert "It begins: words..." in pointer.text
    assert pointer.text.count("\n- ") == 3


@pytest.mark.parametrize(
    "content",
    [
        "",
        [],
        [{"type": "text", "text": ""}],
        ["text", {"type": "image", "url": "https://example.com/a.png"}],
        [{"type": "image", "base64": "not base64!"}],
        [{"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}],
    ],
)
def test_what_cannot_be_stored_whole_stays(store: Any, content: Any) -> None:
    assert parts_of(result(content), store) is None


def test_images_stay_out_of_a_store_of_text(caplog: pytest.LogCaptureFixture) -> None:
    class Text:
        supports_binary_content = False

        def write(self, key: str, content: str | bytes) -> str:
            return f"{key}{content!r}"

        def read(self, reference: str) -> str:
            return reference

    assert parts_of(result([{"type": "image", "base64": ENCODED}]), Text()) is None
    assert "'t'" in caplog.text
    assert parts_of(result("words"), Text())


def test_result_that_was_cut_is_stored_whole(store: Any) -> None:
    cut = cut_message(result("x" * 500), 100)
    pointer = moved(cut, store)

    assert store.read(pointer.response_metadata[OFFLOADED][0]) == "x" * 500
    assert pointer.artifact is None


def test_other_artifacts_stay_with_the_message(store: Any) -> None:
    assert moved(result("words", artifact={"rows": 3}), store).artifact == {"rows": 3}


def test_message_keeps_what_it_is(store: Any) -> None:
    pointer = moved(result("words", response_metadata={"k": 1}), store)

    assert (pointer.id, pointer.tool_call_id, pointer.name) == ("m", "c", "t")
    assert pointer.response_metadata["k"] == 1
