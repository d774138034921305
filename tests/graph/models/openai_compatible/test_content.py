from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from interlock.graph.models.openai_compatible.content import wire_content
from interlock.state.errors import InvalidInputError

Net = Any  # the loopback network of conftest.py
Ask = Callable[..., Any]
WHERE = "message 0 (human)"
DATA = {"base64": "AAAA"}


@pytest.mark.parametrize(
    ("block", "sent"),
    [
        (
            {"type": "image", "url": "https://h/x.png"},
            {"type": "image_url", "image_url": {"url": "https://h/x.png"}},
        ),
        (
            {"type": "image", "mime_type": "image/png", **DATA},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ),
        (
            {"type": "image", "source_type": "base64", "data": "AAAA", "mime_type": "image/png"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ),
        (
            {"type": "image", "url": "https://h/x.png", "extras": {"detail": "low"}},
            {"type": "image_url", "image_url": {"url": "https://h/x.png", "detail": "low"}},
        ),
        (
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
            },
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ),
        (
            {"type": "image_url", "image_url": "https://h/x.png"},
            {"type": "image_url", "image_url": {"url": "https://h/x.png"}},
        ),
        (
            {"type": "audio", "mime_type": "audio/mpeg", **DATA},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
        ),
        (
            {"type": "audio", "url": "https://h/x.wav"},
            {"type": "audio_url", "audio_url": {"url": "https://h/x.wav"}},
        ),
        (
            {"type": "video", "url": "https://h/x.mp4"},
            {"type": "video_url", "video_url": {"url": "https://h/x.mp4"}},
        ),
        (
            {"type": "file", "mime_type": "application/pdf", "filename": "a.pdf", **DATA},
            {
                "type": "file",
                "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"},
            },
        ),
        (
            {"type": "file", "mime_type": "application/pdf", **DATA},
            {
                "type": "file",
                "file": {"filename": "file.pdf", "file_data": "data:application/pdf;base64,AAAA"},
            },
        ),
        (
            {"type": "file", "url": "https://h/a.pdf", "filename": "a.pdf"},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "https://h/a.pdf"}},
        ),
        ({"type": "file", "file_id": "f1"}, {"type": "file", "file": {"file_id": "f1"}}),
        (
            {"type": "file", "source_type": "id", "id": "f1"},
            {"type": "file", "file": {"file_id": "f1"}},
        ),
        ({"type": "file", "file": {"file_id": "f1"}}, {"type": "file", "file": {"file_id": "f1"}}),
        ({"type": "text-plain", "text": "hi"}, {"type": "text", "text": "hi"}),
        (
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        ),
    ],
    ids=[
        "image url",
        "image data",
        "image v0",
        "image detail",
        "image anthropic",
        "image openai",
        "audio data",
        "audio url",
        "video",
        "file data",
        "file unnamed",
        "file url",
        "file id",
        "file id v0",
        "file openai",
        "plain text",
        "audio openai",
    ],
)
def test_block_is_sent_in_openai_form(block: dict[str, Any], sent: dict[str, Any]) -> None:
    assert wire_content([{"type": "text", "text": "see"}, block], WHERE) == [
        {"type": "text", "text": "see"},
        sent,
    ]


def test_text_alone_stays_text() -> None:
    assert wire_content("hi", WHERE) == "hi"
    assert wire_content([{"type": "text", "text": "hi"}], WHERE) == "hi"
    assert wire_content(["", {"type": "text", "text": ""}], WHERE) == ""


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "hologram"}, "unknown type 'hologram'"),
        ({}, "unknown type None"),
        ({"type": ["text"]}, r"unknown type \['text'\]"),
        (7, "neither text nor a block"),
        ({"type": "text"}, "lacks a 'text'"),
        ({"type": "image"}, "lacks a 'url'"),
        ({"type": "image", **DATA}, "lacks a 'mime_type'"),
        ({"type": "audio", **DATA}, "lacks a 'mime_type'"),
    ],
)
def test_block_that_cannot_be_sent_is_named(block: Any, words: str) -> None:
    with pytest.raises(InvalidInputError, match=rf"block 1 of message 0 \(human\).*{words}"):
        wire_content(["see", block], WHERE)


def test_an_address_in_a_message_is_passed_on_and_not_asked(
    net: Net, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = net.provider(net.whole(net.completion()))
    metadata, private = "http://169.254.169.254/latest", "http://localhost:1/x.png"
    asked: list[Any] = []
    look_up = socket.getaddrinfo

    def noted(host: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append(host)
        return look_up(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", noted)
    blocks: list[str | dict[Any, Any]] = [
        {"type": "text", "text": f"read {metadata}"},
        {"type": "image", "url": metadata},
        {"type": "image_url", "image_url": {"url": private}},
        {"type": "file", "url": private},
    ]
    ask(net.client(server), [HumanMessage(blocks)])

    sent = json.dumps(server.seen[0].body)
    assert (sent.count(metadata), sent.count(private)) == (2, 2)
    assert {*asked} <= {"127.0.0.1"}
