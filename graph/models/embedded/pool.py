"""Engine processes, one per tool set, a few at a time."""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar


class Process(Protocol):
    """What the pool asks of a worker."""

    @property
    def usable(self) -> bool:
        """Whether it can take another request."""
        ...

    def close(self) -> None:
        """End it."""
        ...


Key = TypeVar("Key", bound=Hashable)
Worker = TypeVar("Worker", bound=Process)


class WorkerPool(Generic[Key, Worker]):
    """Workers by key: each used by one thread at a time, the least recently used one given up.

    A thread that wants a worker in use, or a new one where all are in use, waits. Nobody holds
    two, so nobody waits for ever. All workers end with the pool, or with the program.

    Args:
        start: Makes the worker for a key; it may take long.
        size: How many workers there may be.
    """

    def __init__(self, start: Callable[[Key], Worker], *, size: int) -> None:
        self._start = start
        self._size = size
        self._inherited: list[Any] = []
        self._begin()

    def _begin(self) -> None:
        self._process_id = os.getpid()
        self._changed = threading.Condition()
        self._workers: OrderedDict[Key, Worker] = OrderedDict()
        self._busy: set[Key] = set()
        self._finalizer = weakref.finalize(self, _close_all, self._workers)

    @contextmanager
    def lease(self, key: Key) -> Generator[Worker]:
        """Give the worker for a key, started if there is none, to this thread alone.

        Args:
            key: What the worker is for.
        """
        self._forget_parent()
        self._take(key)
        try:
            worker = self._workers.get(key)
            if worker is None:
                worker = self._start(key)
                with self._changed:
                    self._workers[key] = worker
            yield worker
        finally:
            self._give_back(key)

    def close(self) -> None:
        """End all workers, those in use too. The next lease starts a new one."""
        self._forget_parent()
        with self._changed:
            workers = list(self._workers.values())
            self._workers.clear()
        for worker in workers:
            worker.close()

    def _take(self, key: Key) -> None:
        given_up: Worker | None = None
        with self._changed:
            self._changed.wait_for(lambda: self._is_free(key))
            if key not in self._workers and len(self._workers.keys() | self._busy) >= self._size:
                idle = next(other for other in self._workers if other not in self._busy)
                given_up = self._workers.pop(idle)
            self._busy.add(key)
        if given_up is not None:
            given_up.close()

    def _is_free(self, key: Key) -> bool:
        return key not in self._busy and (key in self._workers or len(self._busy) < self._size)

    def _give_back(self, key: Key) -> None:
        with self._changed:
            worker = self._workers.get(key)
            broken = None if worker is None or worker.usable else self._workers.pop(key)
            if key in self._workers:
                self._workers.move_to_end(key)
            self._busy.discard(key)
            self._changed.notify_all()
        if broken is not None:
            broken.close()

    def _forget_parent(self) -> None:
        """After a fork, leave the workers to the parent: two who talk to one mix its answers."""
        if self._process_id != os.getpid():
            self._finalizer.detach()
            self._inherited.append(self._workers)
            self._begin()


def _close_all(workers: OrderedDict[Any, Any]) -> None:
    while workers:
        workers.popitem()[1].close()
