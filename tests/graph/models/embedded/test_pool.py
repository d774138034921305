"""Workers shared by threads: one user at a time, few at once, none left behind."""

from __future__ import annotations

import gc
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from interlock.graph.models.embedded import pool as pool_module
from interlock.graph.models.embedded.pool import WorkerPool


class Process:
    """A worker that only knows whether it runs."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.usable = True
        self.closed = False

    def close(self) -> None:
        self.closed = True


class Started:
    """A pool and everything it started."""

    def __init__(self, size: int) -> None:
        self.all: list[Process] = []
        self.pool: WorkerPool[str, Process] = WorkerPool(self.start, size=size)

    def start(self, key: str) -> Process:
        self.all.append(Process(key))
        return self.all[-1]

    def use(self, *keys: str) -> None:
        for key in keys:
            with self.pool.lease(key) as worker:
                assert worker.key == key

    @property
    def running(self) -> list[str]:
        return [worker.key for worker in self.all if not worker.closed]


def test_a_worker_is_kept_for_its_key() -> None:
    started = Started(2)
    started.use("a", "b", "a", "b")
    assert [worker.key for worker in started.all] == ["a", "b"]


def test_the_worker_unused_for_longest_is_given_up() -> None:
    started = Started(2)
    started.use("a", "b", "a", "c")
    assert started.running == ["a", "c"]


def test_a_broken_worker_is_replaced() -> None:
    started = Started(2)
    with started.pool.lease("a") as worker:
        worker.usable = False
    started.use("a")
    assert [worker.closed for worker in started.all] == [True, False]


def test_a_worker_that_does_not_start_blocks_nobody() -> None:
    def fail(key: str) -> Process:
        raise OSError(key)

    pool: WorkerPool[str, Process] = WorkerPool(fail, size=1)
    for _ in range(2):
        with pytest.raises(OSError, match="a"), pool.lease("a"):
            pass


def test_no_worker_is_used_by_two_threads_and_the_size_holds() -> None:
    started = Started(2)
    using: set[str] = set()
    wrong: list[str] = []
    lock = threading.Lock()

    def work(number: int) -> None:
        key = "abcd"[number % 4]
        with started.pool.lease(key):
            with lock:
                if key in using or len(started.running) > 2:
                    wrong.append(key)
                using.add(key)
            with lock:
                using.discard(key)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(400)))
    assert wrong == []


def test_close_ends_all_and_a_later_lease_starts_anew() -> None:
    started = Started(2)
    started.use("a", "b")
    started.pool.close()
    assert started.running == []
    started.use("a")
    assert started.running == ["a"]


def test_close_ends_a_worker_in_use() -> None:
    started = Started(1)
    with started.pool.lease("a") as worker:
        started.pool.close()
        assert worker.closed
    started.use("a")
    assert started.running == ["a"]


def test_workers_end_with_their_pool() -> None:
    started = Started(2)
    started.use("a")
    del started.pool
    gc.collect()
    assert started.running == []


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_does_not_touch_the_workers_of_its_parent() -> None:
    started = Started(1)
    started.use("a")
    context = multiprocessing.get_context("fork")
    seen = context.SimpleQueue()

    def child() -> None:
        started.use("a")
        seen.put([worker.closed for worker in started.all])

    process = context.Process(target=child)
    process.start()
    process.join(20)
    assert process.exitcode == 0
    assert seen.get() == [False, False]


FINISHED = """
import subprocess, sys
sys.path.append(sys.argv[1])
from pool import WorkerPool

class Process:
    usable = True

    def __init__(self, key):
        self.child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])

    def close(self):
        self.child.kill()
        self.child.wait()

pool = WorkerPool(Process, size=1)
with pool.lease("a") as worker:
    print(worker.child.pid)
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits by Linux's pidfd")
def test_workers_end_with_the_program(ends: Callable[[int], bool]) -> None:
    folder = str(Path(pool_module.__file__).parent)
    program = [sys.executable, "-I", "-c", FINISHED, folder]
    done = subprocess.run(program, stdout=subprocess.PIPE, timeout=60, check=True)
    assert ends(int(done.stdout))
