from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    add_notification_metadata,
)

from interlock.middleware.memory.records import (
    Memory,
    beginning,
    new_messages,
    spoken,
    writes_of_memories,
    writes_of_messages,
)
from interlock.middleware.memory.scope import MemoryScope
from interlock.state import InvalidUpdateError

ANN = MemoryScope(user_id="ann")


def chat(*texts: str) -> list[BaseMessage]:
    """A conversation of people (capital letters) and models; ids are the texts."""
    return [HumanMessage(t, id=t) if t.isupper() else AIMessage(t, id=t) for t in texts]


def of_run(before: list[BaseMessage], after: list[BaseMessage]) -> str:
    start: Any = beginning(before)
    return "".join(m.text for m in new_messages(after, start["before"], start["given"]))


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ("A", "Aa", "Aa"),
        ("AaB", "AaBb", "Bb"),
        ("AaBC", "AaBCb", "BCb"),
        ("AaB", "Bb", "Bb"),
        ("AaB", "b", "b"),
        ("Aa", "Aab", "b"),
        ("", "a", "a"),
    ],
)
def test_what_follows_the_last_reply_is_new(before: str, after: str, new: str) -> None:
    assert of_run(chat(*before), chat(*after)) == new


def test_only_what_was_said_in_words_is_kept(calling: Any) -> None:
    note = add_notification_metadata(HumanMessage("note"), source="interlock")
    messages = [
        SystemMessage("rules"),
        HumanMessage("hello"),
        calling(("look", {})),
        ToolMessage("r", tool_call_id="c1"),
        note,
        HumanMessage("  "),
        AIMessage("hi"),
    ]
    assert [m.text for m in spoken(messages, ("user", "assistant"))] == ["hello", "hi"]
    assert [m.text for m in spoken(messages, ("user",))] == ["hello"]


def test_a_message_has_one_key_in_one_scope() -> None:
    (one,) = writes_of_messages(chat("A"), ANN)
    (again,) = writes_of_messages(chat("A"), ANN)
    (other,) = writes_of_messages(chat("A"), MemoryScope(user_id="ann", run_id="r"))
    assert one == again
    assert one.key != other.key
    assert one.value == {
        "user_id": "ann",
        "agent_id": None,
        "run_id": None,
        "text": "A",
        "metadata": {"role": "user"},
        "sources": ["A"],
    }


def test_an_extractor_gives_texts_or_memories() -> None:
    made = ["likes tea", Memory("is tall", {"topic": "body"}), " "]
    one, two = writes_of_memories(made, chat("A"), ANN)
    assert one.value is not None
    assert two.value is not None
    assert (one.value["text"], one.value["metadata"]) == ("likes tea", {})
    assert two.value["metadata"] == {"topic": "body"}
    assert one.key != two.key


def test_what_is_no_memory_is_refused() -> None:
    with pytest.raises(InvalidUpdateError, match="extract returned 3"):
        writes_of_memories([3], chat("A"), ANN)
