"""Whose memories a run reads and writes: checked ids, and the place in the store they stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from ...state.memory_errors import MemoryScopeError

ROOT = ("memories",)
"""First labels of every namespace of memories, where nothing else is said."""

SCOPE_KEYS = ("user_id", "agent_id", "run_id")

MAX_ID_LENGTH = 128

# What means "any", "one level up" or "another part" somewhere: an id that holds it is an attempt to
# read more than one's own, or will become one by accident.
_SUSPECT = re.compile(r"[*?%\\/\x00-\x1f\x7f-\x9f]|\.\.|^\s|\s$")


@dataclass(frozen=True)
class MemoryScope:
    """Ids that all have to agree: a run with two of them sees only memories that bear both."""

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None

    def __post_init__(self) -> None:
        given = {key: value for key, value in self.ids.items() if value is not None}
        if not given:
            msg = f"No memory scope is given; give at least one of {', '.join(SCOPE_KEYS)}."
            raise MemoryScopeError(msg)
        for key, value in given.items():
            _check_id(key, value)

    @property
    def ids(self) -> dict[str, str | None]:
        """All three ids by name."""
        return {key: getattr(self, key) for key in SCOPE_KEYS}

    @property
    def conditions(self) -> dict[str, str]:
        """The ids that the namespace does not settle, as the store's filter."""
        return {k: v for k, v in self.ids.items() if k != "user_id" and v is not None}

    def owns(self, namespace: tuple[str, ...], value: Mapping[str, Any], root: Any = ROOT) -> bool:
        """Whether a stored memory belongs to this scope, whatever the store makes of a search."""
        return namespace == memory_namespace(self, root) and all(
            value.get(key) == wanted for key, wanted in self.ids.items() if wanted is not None
        )


def scope_of(fixed: Mapping[str, Any], given: Mapping[str, Any]) -> MemoryScope:
    """The scope of a run.

    Args:
        fixed: Ids that the agent was built with.
        given: Ids of this run.

    Raises:
        MemoryScopeError: There is none at all, one is no id, or a run wants to change a fixed one.
    """
    ids: dict[str, Any] = {}
    for key in SCOPE_KEYS:
        mine, theirs = fixed.get(key), given.get(key)
        if mine is not None and theirs is not None and mine != theirs:
            msg = f"{key} is fixed for this agent; a run cannot ask for {theirs!r}. Leave it out."
            raise MemoryScopeError(msg, key=key)
        ids[key] = mine if mine is not None else theirs
    return MemoryScope(**ids)


def memory_namespace(scope: MemoryScope, root: tuple[str, ...] = ROOT) -> tuple[str, ...]:
    """The namespace of a user's memories in a langgraph store: for looking at or erasing them.

    Memories without a user have a namespace of their own, which no user's search reaches. Agent
    and run are in each memory's value.

    >>> memory_namespace(MemoryScope(user_id="ann"))
    ('memories', 'user-616e6e', 'items')

    Args:
        scope: Whose memories.
        root: First labels.
    """
    # Hex has no letter that a store could take for a pattern, a separator or another case, and the
    # last label keeps one id from being the beginning of another.
    user = "no-user" if scope.user_id is None else f"user-{scope.user_id.encode().hex()}"
    return (*root, user, "items")


def _check_id(key: str, value: Any) -> None:
    if not isinstance(value, str):
        msg = f"{key} is {cast('object', value)!r}; an id is a text."
        raise MemoryScopeError(msg, key=key)
    if not value or len(value) > MAX_ID_LENGTH or _SUSPECT.search(value) or _lone(value):
        msg = (
            f"{key} {value[:40]!r} cannot be an id: give 1 to {MAX_ID_LENGTH} characters without "
            "wildcards, path separators, control characters or blanks at the ends."
        )
        raise MemoryScopeError(msg, key=key)


def _lone(value: str) -> bool:
    """Whether it holds half of a surrogate pair, which is no text."""
    return any("\ud800" <= letter <= "\udfff" for letter in value)
