"""Not asking again at once for what has just failed."""

from __future__ import annotations


class Patience:
    """Lets some turns pass after a failure, so that a model that is down does not slow each one.

    It counts turns of all threads that share it and keeps nothing with them.
    """

    def __init__(self, turns: int = 4) -> None:
        """Make one that lets ``turns`` turns pass after each failure."""
        self._turns = turns
        self._left = 0

    def is_over(self) -> bool:
        """Whether it may be tried now; a turn that is told no has passed."""
        if self._left:
            self._left -= 1
            return False
        return True

    def begin(self) -> None:
        """It failed."""
        self._left = self._turns
