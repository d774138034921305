from __future__ import annotations

import gc

from langchain_core.messages import BaseMessage, HumanMessage

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


def test_each_message_is_asked_about_once_and_keeps_what_it_became() -> None:
    memory = MessageMemory()
    old, new, same = HumanMessage("old"), HumanMessage("new"), HumanMessage("same")
    asked: list[str] = []

    def change(message: BaseMessage) -> BaseMessage:
        asked.append(message.text)
        return new if message is old else message

    assert memory.change_all([same, same], change) is None
    assert memory.change_all([same, old], change) == [same, new]
    assert memory.change_all([old, same], change) == [new, same]
    assert memory.became(old) is new
    assert asked == ["same", "old"]


def test_messages_are_forgotten_when_nobody_holds_them() -> None:
    memory = MessageMemory()
    memory.add(HumanMessage("gone"))
    gc.collect()

    assert memory._known == {}  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
