from __future__ import annotations

import gc

from langchain_core.messages import HumanMessage

from interlock.middleware.redaction.memory import MessageMemory


def test_known_messages_end_the_look_back_and_replaced_ones_are_new() -> None:
    memory = MessageMemory()
    messages = [HumanMessage(str(n), id=str(n)) for n in range(4)]
    for message in messages[:3]:
        memory.add(message)
    replaced = [HumanMessage("other", id="0"), *messages[1:]]

    assert memory.new_in(messages, everywhere=False) == [3]
    assert memory.new_in(replaced, everywhere=False) == [3]
    assert memory.new_in(replaced, everywhere=True) == [0, 3]


def test_what_a_message_became_is_remembered() -> None:
    memory = MessageMemory()
    old, new, same = HumanMessage("old"), HumanMessage("new"), HumanMessage("same")
    memory.add(old, new)
    memory.add(same)

    assert memory.became(old) is new
    assert memory.became(same) is same
    assert memory.all_unchanged([same, same])
    assert not memory.all_unchanged([same, old])
    assert not memory.all_unchanged([same, HumanMessage("same")])


def test_messages_are_forgotten_when_nobody_holds_them() -> None:
    memory = MessageMemory()
    memory.add(HumanMessage("gone"))
    gc.collect()

    assert memory._known == {}  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
