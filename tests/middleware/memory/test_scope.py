from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.middleware.memory.scope import MemoryScope, memory_namespace, scope_of
from interlock.state.memory_errors import MemoryScopeError

IDS = st.text("aAbB1_.@-é", min_size=1, max_size=6).filter(lambda s: ".." not in s)


def test_a_scope_without_any_id_is_refused() -> None:
    with pytest.raises(MemoryScopeError, match="at least one"):
        MemoryScope()
    with pytest.raises(MemoryScopeError, match="at least one"):
        scope_of({}, {})


@pytest.mark.parametrize(
    "ident",
    [
        "*",
        "ann*",
        "a?",
        "%",
        "a%",
        "../bob",
        "a..b",
        "a/b",
        "a\\b",
        " ann",
        "ann\n",
        "a\x00b",
        "\ud800",
        "",
        "x" * 129,
        7,
        ["ann"],
        b"ann",
    ],
    ids=ascii,
)
@pytest.mark.parametrize("key", ["user_id", "agent_id", "run_id"])
def test_an_id_that_could_stand_for_others_is_refused(key: str, ident: Any) -> None:
    with pytest.raises(MemoryScopeError, match=key):
        MemoryScope(**{key: ident})


@pytest.mark.parametrize(
    "ident", ["ann", "ann.b@x.org", "auth0|5f", "urn:a:b", "user_1", "Ännchen"]
)
def test_ordinary_ids_are_taken(ident: str) -> None:
    assert MemoryScope(user_id=ident).user_id == ident


def test_a_fixed_id_cannot_be_changed_by_a_run() -> None:
    with pytest.raises(MemoryScopeError, match="fixed"):
        scope_of({"user_id": "ann"}, {"user_id": "bob"})
    assert scope_of({"agent_id": "desk"}, {"user_id": "ann"}) == MemoryScope("ann", "desk")
    assert scope_of({"user_id": "ann"}, {"user_id": "ann"}) == MemoryScope("ann")


@given(one=IDS, other=IDS)
@settings(max_examples=40)
def test_no_two_users_share_a_namespace_or_the_beginning_of_one(one: str, other: str) -> None:
    first, second = (".".join(memory_namespace(MemoryScope(user_id=i))) for i in (one, other))
    assert first.lower().startswith(second.lower()) == (one == other)
    assert not set(first) & set("%_*?")


def test_memories_of_nobody_are_no_users_memories() -> None:
    shared = memory_namespace(MemoryScope(agent_id="desk"))
    assert shared != memory_namespace(MemoryScope(user_id="no-user", agent_id="desk"))


@pytest.mark.parametrize(
    ("value", "owned"),
    [
        ({"user_id": "ann", "agent_id": "desk"}, True),
        ({"user_id": "ann", "agent_id": "desk", "run_id": "r"}, True),
        ({"user_id": "ann", "agent_id": "door"}, False),
        ({"user_id": "ann"}, False),
        ({"user_id": "bob", "agent_id": "desk"}, False),
    ],
)
def test_all_ids_have_to_agree(value: dict[str, Any], owned: bool) -> None:
    scope = MemoryScope(user_id="ann", agent_id="desk")
    assert scope.owns(memory_namespace(scope), value) is owned
    assert not scope.owns(("memories", "user-bob", "items"), value)


def test_the_store_is_asked_for_the_ids_that_the_namespace_does_not_settle() -> None:
    assert MemoryScope("ann", "desk", "r").conditions == {"agent_id": "desk", "run_id": "r"}
    assert MemoryScope("ann").conditions == {}
