"""Values put aside under tokens, and put back where they may be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from ...state.schema import AgentState, PrivateStateAttr
from .strategy import TOKEN
from .surfaces import change_value


def merge_vaults(current: Any, new: Any) -> dict[str, str]:
    """Both vaults in one; a token always stands for the same value."""
    return {**(current or {}), **(new or {})}


class VaultState(AgentState[Any]):
    """State of an agent that puts values aside."""

    pii_vault: NotRequired[Annotated[dict[str, str], PrivateStateAttr, merge_vaults]]
    """Values by token. Whoever can read the thread's storage can read them."""


def restore(text: str, vault: Mapping[str, str]) -> str:
    """A text with its tokens replaced by what they stand for; unknown tokens stay."""
    return TOKEN.sub(lambda found: vault.get(found[0], found[0]), text)


def restore_value(value: Any, vault: Mapping[str, str]) -> Any:
    """A value with the tokens in it replaced: plain data, messages, dataclasses and models."""
    return change_value(value, lambda text: restore(text, vault)) if vault else value
