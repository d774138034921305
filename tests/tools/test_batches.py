from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.tools.batches import StateAccess, next_batch

NOTHING = StateAccess()
LIVE = StateAccess(alone=True)
GIVEN_STATE = StateAccess(may_read=True, may_write=True)
ANY_WRITER = StateAccess(may_write=True)


def reads(*keys: str) -> StateAccess:
    return StateAccess(reads=frozenset(keys))


def writes(*keys: str) -> StateAccess:
    return StateAccess(writes=frozenset(keys))


def both(read: str, written: str) -> StateAccess:
    return StateAccess(reads=frozenset(read), writes=frozenset(written))


def replaces(*keys: str) -> StateAccess:
    return StateAccess(writes=frozenset(keys), replaces=frozenset(keys))


def batches(*access: StateAccess) -> list[list[int]]:
    """The numbers of the calls, batch by batch, until all have run."""
    waiting: list[int] = list(range(len(access)))
    found: list[list[int]] = []
    while waiting:
        batch = next_batch(waiting, [access[n] for n in waiting])
        found.append(batch)
        waiting = [n for n in waiting if n not in batch]
    return found


@pytest.mark.parametrize(
    ("access", "expected"),
    [
        ((), []),
        ((NOTHING,), [[0]]),
        ((NOTHING, NOTHING, NOTHING), [[0, 1, 2]]),
        ((reads("a"), reads("a")), [[0, 1]]),
        ((writes("a"), reads("b")), [[0, 1]]),
        ((writes("a"), reads("a")), [[0], [1]]),
        ((reads("a"), writes("a")), [[1], [0]]),
        ((writes("a"), writes("a")), [[0, 1]]),
        ((both("a", "a"), both("a", "a")), [[0], [1]]),
        ((both("a", "b"), both("b", "a")), [[0], [1]]),
        ((reads("b"), both("a", "b"), both("b", "a")), [[1], [0, 2]]),
        ((writes("a"), both("a", "b"), reads("b"), NOTHING), [[0, 3], [1], [2]]),
        ((replaces("a"), writes("a")), [[0], [1]]),
        ((writes("a"), replaces("a")), [[0], [1]]),
        ((replaces("a"), replaces("b")), [[0, 1]]),
        ((replaces("a"), ANY_WRITER), [[0], [1]]),
        ((NOTHING, LIVE, NOTHING), [[0], [1], [2]]),
        ((LIVE, LIVE), [[0], [1]]),
        ((reads("a"), LIVE, writes("a")), [[0], [1], [2]]),
        ((NOTHING, GIVEN_STATE), [[0, 1]]),
        ((GIVEN_STATE, GIVEN_STATE), [[0], [1]]),
        ((GIVEN_STATE, writes("a")), [[0, 1]]),
        ((writes("a"), GIVEN_STATE), [[0], [1]]),
        ((ANY_WRITER, reads("a")), [[0], [1]]),
        ((reads("a"), ANY_WRITER), [[0, 1]]),
    ],
    ids=range(25),
)
def test_calls_run_in_batches(access: tuple[StateAccess, ...], expected: list[list[int]]) -> None:
    assert batches(*access) == expected


def keys() -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from("ab"))


@st.composite
def accesses(draw: st.DrawFn) -> StateAccess:
    written = draw(keys())
    return StateAccess(
        reads=draw(keys()),
        writes=written,
        replaces=frozenset(key for key in written if draw(st.booleans())),
        may_read=draw(st.booleans()),
        may_write=draw(st.booleans()),
        alone=draw(st.integers(0, 5)) == 0,
    )


many = st.lists(accesses(), max_size=6)


@settings(max_examples=60)
@given(many)
def test_every_call_runs_exactly_once(access: list[StateAccess]) -> None:
    found = batches(*access)
    assert all(batch == sorted(batch) for batch in found)
    assert sorted(n for batch in found for n in batch) == list(range(len(access)))


@settings(max_examples=60)
@given(many)
def test_no_call_runs_beside_one_that_it_minds(access: list[StateAccess]) -> None:
    for batch in batches(*access):
        for n in batch:
            others = [access[m] for m in batch if m != n]
            earlier = [access[m] for m in batch if m < n]
            assert not any(access[n].reads & other.writes for other in others)
            assert not (access[n].alone and others)
            assert not (access[n].may_read and any(other.changes for other in earlier))
            assert not any(access[n].replaces & other.writes for other in earlier)


@settings(max_examples=60)
@given(st.lists(st.builds(StateAccess, reads=keys(), writes=keys()), max_size=6))
def test_a_declared_reader_waits_for_writers_that_do_not_wait_for_it(
    access: list[StateAccess],
) -> None:
    when = {n: number for number, batch in enumerate(batches(*access)) for n in batch}
    for n, reader in enumerate(access):
        for m, writer in enumerate(access):
            if m != n and reader.reads & writer.writes and not writer.reads:
                assert when[m] < when[n]


def test_only_calls_that_mind_each_other_cost_a_look() -> None:
    calls = list(range(5_000))
    assert next_batch(calls, [writes("a")] * 5_000) == calls
