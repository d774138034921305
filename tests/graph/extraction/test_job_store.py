from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from interlock.graph.extraction import Extraction, JobStore, Record
from interlock.state.errors import InvalidInputError, StorageError

SETTINGS: dict[str, Any] = {"schema": {"type": "object"}, "model": "m"}


def record(position: int) -> Record:
    return Record(position, f"key {position}", f"text {position}")


def done(position: int) -> Extraction[Any]:
    return Extraction[Any](
        record(position), data={"n": position}, schema_name="S", attempts=2, usage={"total": 3}
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "job.sqlite"


def test_result_is_found_after_the_file_was_closed(path: Path) -> None:
    with JobStore(path, SETTINGS) as store:
        store.add(done(0))
    with JobStore(path, SETTINGS) as store:
        assert store.find(record(0)) == done(0)
        assert store.find(record(1)) is None


def test_rejection_is_kept_with_its_reason(path: Path) -> None:
    rejected = Extraction[Any](
        record(0), error="bad \ud800", error_type="E", last_output="said", seconds=1.5
    )
    with JobStore(path, SETTINGS) as store:
        store.add(rejected)
        found = store.find(record(0))

    assert found is not None
    assert (found.error, found.error_type, found.last_output) == ("bad ?", "E", "said")
    assert found.rejected


def test_results_come_in_the_order_of_the_input(path: Path) -> None:
    with JobStore(path, SETTINGS) as store:
        for position in (700, 0, 1_300, 5):
            store.add(done(position))

        assert [result.record.position for result in store.results()] == [0, 5, 700, 1_300]


def test_record_is_done_once(path: Path) -> None:
    with JobStore(path, SETTINGS) as store:
        store.add(done(0))
        with pytest.raises(InvalidInputError, match="Two records"):
            store.add(done(0))


@pytest.mark.parametrize(
    "other",
    [Record(0, "key 0", "changed"), Record(1, "key 0", "text 0"), Record(0, "key 1", "text 0")],
)
def test_other_input_than_the_one_begun_with_is_refused(path: Path, other: Record) -> None:
    with JobStore(path, SETTINGS) as store:
        store.add(done(0))
        with pytest.raises(InvalidInputError, match="same input"):
            store.find(other)


def test_other_settings_than_those_begun_with_are_refused_by_name(path: Path) -> None:
    JobStore(path, SETTINGS).close()

    with pytest.raises(InvalidInputError, match="another model"):
        JobStore(path, {**SETTINGS, "model": "another"})


def test_job_in_use_is_refused(path: Path) -> None:
    with JobStore(path, SETTINGS) as store:
        store.add(done(0))
        with pytest.raises(StorageError, match="another process uses it"):
            JobStore(path, SETTINGS)


def test_file_that_is_no_job_is_left_alone(path: Path) -> None:
    path.write_text("a text of some length that is no database\n" * 100)
    with pytest.raises(StorageError, match="cannot be used"):
        JobStore(path, SETTINGS)

    assert path.read_text().startswith("a text")


def test_database_of_something_else_is_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("create table t (x)")
    other.close()

    with pytest.raises(StorageError, match="is no job of this version"):
        JobStore(path, SETTINGS)


def test_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="nowhere"):
        JobStore(tmp_path / "nowhere" / "job.sqlite", SETTINGS)


def test_value_that_is_no_json_is_refused(path: Path) -> None:
    with JobStore(path, SETTINGS) as store, pytest.raises(StorageError, match="no JSON"):
        store.add(Extraction[Any](record(0), data=object()))


PROGRAM = """
import sys
from interlock.graph.extraction import Extraction, JobStore, Record
store = JobStore(sys.argv[1], {})
for number in range(10**9):
    store.add(Extraction(Record(number, str(number), ""), data=number))
    print(number, flush=True)
"""


@pytest.mark.slow
def test_nothing_that_was_kept_is_lost_by_a_kill(path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-P", "-c", PROGRAM, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        told = [int(process.stdout.readline()) for _ in range(200)]
        process.send_signal(signal.SIGKILL)
        told += [int(line) for line in process.stdout if line.endswith("\n")]

    with JobStore(path, {}) as store:
        kept = [result.data for result in store.results()]
    assert kept[: len(told)] == told
    assert len(kept) <= len(told) + 1
