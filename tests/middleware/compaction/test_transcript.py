from __future__ import annotations

from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    add_notification_metadata,
)

from interlock.middleware.compaction.transcript import transcript


def test_every_kind_of_message_is_told_apart() -> None:
    call = {"name": "find", "args": {"q": "ä"}, "id": "c1"}
    messages = [
        SystemMessage("rules"),
        add_notification_metadata(HumanMessage("before"), source="summarization"),
        HumanMessage("question"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("none", tool_call_id="c1", name="find", status="error"),
        AIMessage("answer"),
    ]

    assert transcript(messages).splitlines() == [
        "[system] rules",
        "[conversation_summary] before",
        "[user] question",
        '[assistant calls find id=c1] {"q": "ä"}',
        "[result of find id=c1 (error)] none",
        "[assistant] answer",
    ]


def test_attachments_are_named_and_not_shown() -> None:
    secret = "A" * 1000
    content = [
        "text, ",
        {"type": "text", "text": "more, "},
        {"type": "image", "mime_type": "image/png", "base64": secret},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{secret}"}},
        {"type": "file", "filename": "a.pdf", "data": secret},
        {"type": "reasoning", "reasoning": "hm"},
    ]

    assert transcript([HumanMessage(content)]) == (  # type: ignore[arg-type]
        "[user] text, more, <image, image/png><image_url, https://example.com/a.png>"
        "<image_url><file, a.pdf>"
    )


def test_reply_without_text_is_still_there() -> None:
    assert transcript([AIMessage("")]) == "[assistant] "
