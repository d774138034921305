"""Many small connection pools instead of a large one.

httpcore 1.0.9 looks at every connection and every request of a pool whenever one of them comes or
goes: with 64 requests side by side that costs several times what a request itself does. So each
request has a pool to itself while it lasts, a lane, which is kept for the next one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

TransportT = TypeVar("TransportT")


@dataclass(eq=False, slots=True)
class Lane(Generic[TransportT]):
    """A transport and how many requests it carries."""

    transport: TransportT
    """Where requests go."""
    users: int = 0
    """Requests under way: more than one only where there are no more lanes."""
    free_since_s: float = 0.0


class Lanes(Generic[TransportT]):
    """Hands out lanes. Threads may share it; it closes nothing itself.

    >>> lanes = Lanes(object, limit=2, idle_s=30)
    >>> one, two, three = lanes.take(), lanes.take(), lanes.take()
    >>> one is two, one is three
    (False, True)
    >>> lanes.give(two), lanes.take() is two
    ([], True)
    """

    def __init__(
        self,
        make: Callable[[], TransportT],
        *,
        limit: int,
        idle_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin without lanes.

        Args:
            make: Makes a transport for a new lane.
            limit: Most lanes; further requests share them.
            idle_s: Seconds after which a free lane is given up.
            clock: Seconds that do not go back.
        """
        self._make, self._limit, self._idle_s, self._clock = make, limit, idle_s, clock
        self._lock = Lock()
        # A dict for its order: where lanes are shared, their turn comes in a circle.
        self._lanes: dict[Lane[TransportT], None] = {}
        self._free: deque[Lane[TransportT]] = deque()

    def take(self) -> Lane[TransportT]:
        """Give the lane for a request: the one that was used last, for its open connection."""
        with self._lock:
            if self._free:
                lane = self._free.pop()
            elif len(self._lanes) < self._limit:
                lane = Lane(self._make())
                self._lanes[lane] = None
            else:
                lane = next(iter(self._lanes))
                self._lanes[lane] = self._lanes.pop(lane)
            lane.users += 1
            return lane

    def give(self, lane: Lane[TransportT]) -> list[TransportT]:
        """Take a lane back when its answer is closed, and give the transports to close now."""
        with self._lock:
            lane.users -= 1
            if lane.users:
                return []
            if lane not in self._lanes:  # cleared meanwhile
                return [lane.transport]
            now = lane.free_since_s = self._clock()
            self._free.append(lane)
            idle: list[TransportT] = []
            while self._free[0].free_since_s < now - self._idle_s:
                old = self._free.popleft()
                del self._lanes[old]
                idle.append(old.transport)
            return idle

    def clear(self) -> list[TransportT]:
        """Give up all lanes, and give their transports to close."""
        with self._lock:
            transports = [lane.transport for lane in self._lanes]
            self._lanes.clear()
            self._free.clear()
            return transports
