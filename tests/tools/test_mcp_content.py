from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from interlock.tools.mcp_content import content_of, description_of, resource_block, tool_name


def block(kind: str, **fields: Any) -> Any:
    return SimpleNamespace(type=kind, **fields)


def test_texts_become_one_text() -> None:
    link = block("resource_link", name="rules", uri="shop://rules")
    inner = block("resource", resource=SimpleNamespace(text="inside"))

    assert content_of([block("text", text="a"), inner, link]) == (
        "a\ninside\n[resource rules: shop://rules]"
    )


def test_pictures_and_sounds_stay_blocks_beside_text() -> None:
    picture = block("image", data="QUJD", mime_type="image/png")
    sound = block("audio", data="QUJD", mime_type="audio/wav")

    assert content_of([block("text", text="a"), picture, sound]) == [
        {"type": "text", "text": "a"},
        {"type": "image", "base64": "QUJD", "mime_type": "image/png"},
        {"type": "audio", "base64": "QUJD", "mime_type": "audio/wav"},
    ]


def test_unknown_content_is_named() -> None:
    assert content_of([block("hologram")]) == "[content of type 'hologram', which cannot be shown]"


@pytest.mark.parametrize(
    ("mime_type", "kind"), [("image/png", "image"), ("application/pdf", "file"), (None, "file")]
)
def test_binary_resource_is_a_block_of_its_kind(mime_type: str | None, kind: str) -> None:
    made = resource_block(SimpleNamespace(blob="QUJD", mime_type=mime_type))

    assert (made["type"], made["base64"]) == (kind, "QUJD")


def test_names_are_such_as_providers_accept() -> None:
    assert tool_name("a.", "odd name/x!") == "a_odd_name_x_"
    assert len(tool_name("", "x" * 100)) == 64


def test_description_hides_nothing_and_is_never_empty() -> None:
    shown = description_of(
        SimpleNamespace(name="t", title=None, description="Add.\u200b\U000e0041")
    )

    assert shown == "Add."
    assert description_of(SimpleNamespace(name="t", title=None, description=None)) == "The tool t."
    assert len(description_of(SimpleNamespace(name="t", description="x" * 9_000))) == 2_000
