from __future__ import annotations

from dataclasses import dataclass

from langchain_core.messages import AIMessage
from pydantic import BaseModel

from interlock.middleware.redaction.vault import merge_vaults, restore, restore_value

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
