from __future__ import annotations

from dataclasses import dataclass

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from pydantic import BaseModel

from interlock.middleware.redaction.vault import (
    merge_vaults,
    restore,
    restore_value,
    restored_answer,
)

VAULT = {"<email:0123456789ab>": "kim@example.com"}
TOKEN = next(iter(VAULT))


class Letter(BaseModel):
    to: list[str]
    pages: int = 1


@dataclass(frozen=True)
class Parcel:
    to: str


def test_known_tokens_are_put_back_and_unknown_ones_stay() -> None:
    assert restore(f"to {TOKEN} and <email:ffffffffffff>", VAULT) == (
        "to kim@example.com and <email:ffffffffffff>"
    )


def test_values_are_put_back_inside_messages_data_and_models() -> None:
    message = AIMessage(TOKEN, id="m1")

    assert restore_value(message, VAULT).content == "kim@example.com"
    assert restore_value({"a": [TOKEN]}, VAULT) == {"a": ["kim@example.com"]}
    assert restore_value(Letter(to=[TOKEN]), VAULT) == Letter(to=["kim@example.com"])
    assert restore_value([Parcel(TOKEN)], VAULT) == [Parcel("kim@example.com")]


def test_what_holds_no_token_is_the_same_object() -> None:
    letter = Letter(to=["x"])

    assert restore_value(letter, VAULT) is letter
    assert restore_value(letter, {}) is letter


def test_vaults_of_parallel_tasks_are_joined() -> None:
    assert merge_vaults(None, {"a": "1"}) == {"a": "1"}
    assert merge_vaults({"a": "1"}, {"b": "2"}) == {"a": "1", "b": "2"}


@pytest.mark.parametrize("results", [True, False])
def test_results_that_are_the_answer_get_their_values_back(results: bool) -> None:
    last = [ToolMessage(TOKEN, tool_call_id=ident, id=ident) for ident in ("c1", "c2")]
    messages = [ToolMessage(TOKEN, tool_call_id="c0"), AIMessage(TOKEN), *last]

    update = restored_answer({"messages": messages, "pii_vault": VAULT}, results=results)

    restored = {m.id: m.content for m in (update or {"messages": []})["messages"]}
    assert restored == (dict.fromkeys(("c1", "c2"), "kim@example.com") if results else {})
