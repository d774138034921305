"""Values put aside under tokens, and put back where they may be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

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
    """A value of plain data, messages or pydantic models with the tokens in it replaced."""
    if not vault:
        return value
    if isinstance(value, BaseModel) and not isinstance(value, BaseMessage):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        new = {name: restore_value(item, vault) for name, item in fields.items()}
        changed = {name: item for name, item in new.items() if item is not fields[name]}
        return value.model_copy(update=changed) if changed else value
    return change_value(value, lambda text: restore(text, vault))
