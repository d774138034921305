"""The threads of a database that wait, without the code of their agents."""

from __future__ import annotations

import sqlite3
import tracemalloc
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Interrupt

from interlock.graph import answer, pending, waiting_threads
from interlock.graph.approvals import WaitingThread, open_threads
from interlock.middleware import NotWaitingError
from interlock.state import ConfigurationError, StorageError

Calling = Callable[..., AIMessage]
Office = Any
Store = Any

GO: dict[str, Any] = {"messages": [HumanMessage("go")]}
APPROVE = {"type": "approve"}


def named(name: str) -> Any:
    return {"configurable": {"thread_id": f"{name} {uuid.uuid4()}"}}


def ident(thread: Any) -> str:
    return str(thread["configurable"]["thread_id"])


def found(store: Store, *threads: Any) -> list[WaitingThread]:
    """What is listed of some threads, in the order of the list."""
    wanted = set(map(ident, threads))
    return [t for t in waiting_threads(store.database) if t.thread_id in wanted]


def test_only_threads_that_wait_are_listed_the_oldest_first(
    store: Store, office: Office, calling: Calling
) -> None:
    waits, ended, waits_too = named("z"), named("y"), named("x")
    with store() as saver:
        for thread in (waits, ended, waits_too):
            agent = office.agent(calling(("send", {"to": ident(thread)})), checkpointer=saver)
            agent.invoke(GO, thread)
        answer(agent, {"c1": APPROVE}, ended)
        known = [agent.pending(thread) for thread in (waits, waits_too)]

    listed = found(store, waits, ended, waits_too)
    assert [t.thread_id for t in listed] == [ident(waits), ident(waits_too)]
    assert [list(t.approvals) for t in listed] == known
    assert all(timedelta(0) < datetime.now(UTC) - (t.since or now()) < HOUR for t in listed)


HOUR = timedelta(hours=1)


def now() -> datetime:
    return datetime.now(UTC)


def test_what_was_answered_is_listed_no_more_and_its_siblings_are(
    store: Store, office: Office, calling: Calling
) -> None:
    thread = named("siblings")
    calls = calling(*(("send", {"to": to}) for to in "abc"))
    with store() as saver:
        agent = office.agent(calls, checkpointer=saver, mode="per_call")
        agent.invoke(GO, thread)
        answer(agent, {"c2": APPROVE}, thread)
        left = pending(agent, thread)

    (listed,) = found(store, thread)
    assert ([p.id for p in left], list(listed.approvals)) == (["c1", "c3"], left)


def test_one_thread_is_found_by_its_id(store: Store, office: Office, calling: Calling) -> None:
    one, other = named("one"), named("'; DROP TABLE checkpoints; --")
    with store() as saver:
        for thread in (one, other):
            office.agent(calling(("send", {"to": "a"})), checkpointer=saver).invoke(GO, thread)

    database = open_threads(store.database)
    assert [t.thread_id for t in database.waiting(ident(other))] == [ident(other)]
    assert list(database.waiting("nobody")) == []
    assert len(found(store, one, other)) == 2


def steps(path: str) -> tuple[int, list[WaitingThread]]:
    """How much work the listing is for the database, in its own steps, and what it gives."""
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    connect = sqlite3.connect

    def counting(*args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)
        connection.set_progress_handler(count, 1)
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("interlock.graph.approvals.sqlite.sqlite3.connect", counting)
        listed = list(waiting_threads(path))
    return counted, listed


def test_the_work_of_listing_does_not_grow_with_the_histories(
    tmp_path: Path, office: Office, calling: Calling
) -> None:
    work: list[int] = []
    memory: list[int] = []
    for turns in (1, 20):
        path = str(tmp_path / f"{turns}.sqlite")
        with SqliteSaver.from_conn_string(path) as saver:
            replies = [*["fine"] * (turns - 1), calling(("send", {"to": "a"}))]
            agent = office.agent(*replies, checkpointer=saver)
            for _ in range(turns):
                agent.invoke(GO, named_once)
        count, listed = steps(path)
        assert len(listed) == 1
        work.append(count)
        tracemalloc.start()
        list(waiting_threads(path))
        memory.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert work[1] < 1.5 * work[0]
    assert memory[1] < 1.5 * memory[0]


named_once = {"configurable": {"thread_id": "t"}}


@dataclass
class Innocent:
    """Stands for what an attacker would have called."""

    called: ClassVar[int] = 0

    def __post_init__(self) -> None:
        type(self).called += 1


def planted(tmp_path: Path, kind: str, value: bytes, office: Office, calling: Calling) -> str:
    """A file with one good thread, and one whose pause is what somebody put there."""
    path = str(tmp_path / "threads.sqlite")
    with SqliteSaver.from_conn_string(path) as saver:
        for name in ("bad", "good"):
            agent = office.agent(calling(("send", {"to": "a"})), checkpointer=saver)
            agent.invoke(GO, {"configurable": {"thread_id": name}})
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "UPDATE writes SET type = ?, value = ? "
            "WHERE thread_id = 'bad' AND channel = '__interrupt__'",
            (kind, value),
        )
    return path


@pytest.mark.parametrize("kind", ["pickle", "json", "msgpack", "null", "bytes"])
def test_unreadable_pause_is_told_and_hides_no_other(
    tmp_path: Path, office: Office, calling: Calling, kind: str
) -> None:
    path = planted(tmp_path, kind, b"\xc1 no data", office, calling)
    bad, good = sorted(waiting_threads(path), key=lambda t: t.thread_id)
    assert bad.problem
    assert bad.approvals == ()
    assert [p.id for p in good.approvals] == ["c1"]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE writes SET value = 10000000000000 WHERE thread_id = 'bad'",
        "UPDATE writes SET value = 'text' WHERE thread_id = 'bad'",
        "UPDATE writes SET task_id = CAST(x'ff' AS TEXT) WHERE thread_id = 'bad'",
        "UPDATE {table} SET thread_id = x'00ff' WHERE thread_id = 'bad'",
        "UPDATE {table} SET thread_id = CAST(x'62ff' AS TEXT) WHERE thread_id = 'bad'",
    ],
)
def test_hostile_row_hides_no_other_thread(
    tmp_path: Path, office: Office, calling: Calling, change: str
) -> None:
    path = planted(tmp_path, "msgpack", b"\xc1", office, calling)
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in ("writes", "checkpoints"):
            connection.execute(change.format(table=table))
    threads = list(waiting_threads(path))
    assert len(threads) == 2
    assert all(isinstance(t.thread_id, str) and t.thread_id.isprintable() for t in threads)
    assert [p.id for t in threads if t.thread_id == "good" for p in t.approvals] == ["c1"]


def test_stored_bytes_call_nothing(tmp_path: Path, office: Office, calling: Calling) -> None:
    payload = JsonPlusSerializer(allowed_msgpack_modules=True)
    kind, value = payload.dumps_typed((Interrupt(value=Innocent(), id="a" * 32),))
    Innocent.called = 0
    bad = next(
        t
        for t in waiting_threads(planted(tmp_path, kind, value, office, calling))
        if t.thread_id == "bad"
    )
    assert (Innocent.called, len(bad.approvals)) == (0, 1)


async def test_agent_goes_on_with_the_threads_of_a_database(
    store: Store, office: Office, calling: Calling
) -> None:
    thread = named("t")
    with store() as saver:
        office.agent(calling(("send", {"to": "a"})), checkpointer=saver).invoke(GO, thread)
    database = open_threads(store.database)
    async with database.answering(ident(thread)), database.saver() as own:
        agent = office.agent(checkpointer=None).with_checkpointer(own)
        result = await agent.aanswer({"c1": APPROVE}, thread)
        assert await agent.apending(thread) == []
    assert (office.did, result["messages"][-1].text) == (["send a"], "done")
    assert list(database.waiting(ident(thread))) == []


async def test_two_processes_do_not_answer_in_one_thread_at_a_time(store: Store) -> None:
    with store():
        one, other = open_threads(store.database), open_threads(store.database)
    before = sorted(Path(store.database).parent.glob("*"))
    async with one.answering("t"):
        with pytest.raises(NotWaitingError, match="just now"):
            async with other.answering("t"):
                pass
        async with other.answering("u"), other.answering("../../x"):
            pass
    async with other.answering("t"):
        pass
    assert sorted(Path(store.database).parent.glob("*")) == before


@pytest.mark.parametrize(
    "checkpoint", ["", "7", pytest.param(str(uuid.uuid4()), id="a random one")]
)
def test_checkpoint_that_tells_no_time_has_none(checkpoint: str) -> None:
    assert WaitingThread("t", checkpoint).since is None


def test_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no file"):
        waiting_threads(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.sqlite").write_text("These are notes. " * 100)
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE songs (name TEXT)")
    for name in ("notes", "other"):
        with pytest.raises(StorageError, match="cannot be read as a database of threads"):
            list(waiting_threads(tmp_path / f"{name}.sqlite"))


def test_password_of_a_database_is_never_shown() -> None:
    pytest.importorskip("psycopg")
    address = "postgresql://ann:hunter2@127.0.0.1:1/office?connect_timeout=2"
    database = open_threads(address)
    with pytest.raises(StorageError) as refused:
        list(database.waiting())
    assert "hunter2" not in f"{refused.value}{database.name}{database!r}"
    assert database.name == "postgresql://127.0.0.1/office"


def test_broken_address_is_refused_without_repeating_it() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(ConfigurationError) as refused:
        open_threads("postgresql://ann:hunter2@[::1/office")
    assert "hunter2" not in str(refused.value)
