"""Values put aside under tokens, and put back where they may be seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Annotated, Any, NotRequired

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

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


def restored_answer(state: Mapping[str, Any], *, results: bool) -> dict[str, Any] | None:
    """The update that puts the values back into the answer of a run.

    Args:
        state: The state at the end of the run.
        results: The answer can be the last results of tools, which the next run looks at again.
    """
    vault: dict[str, str] = state.get("pii_vault") or {}
    answers = _answers(state["messages"], results=results)
    restored = [new for m in answers if (new := restore_value(m, vault)) is not m]
    update: dict[str, Any] = {}
    if restored:
        update["messages"] = restored
    structured = state.get("structured_response")
    if structured is not None and (new := restore_value(structured, vault)) is not structured:
        update["structured_response"] = new
    return update or None


def _answers(messages: Sequence[BaseMessage], *, results: bool) -> Iterable[BaseMessage]:
    if messages and isinstance(messages[-1], AIMessage):
        return messages[-1:]
    return takewhile(lambda m: results and isinstance(m, ToolMessage), reversed(messages))
