"""The embedded model, one per module: starting its engine takes most of a second."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Iterator

import pytest

from interlock.graph.models import EmbeddedChatModel
from interlock.state.errors import MissingExtraError


@pytest.fixture(scope="module")
def model() -> Iterator[EmbeddedChatModel]:
    """The model, or a skipped test where there is no engine for this platform."""
    try:
        built = EmbeddedChatModel()
    except MissingExtraError as exc:
        pytest.skip(str(exc))
    yield built
    built.close()


@pytest.fixture
def ends() -> Callable[[int], bool]:
    """``ends(pid)``: whether a process is over within half a minute."""

    def wait(pid: int) -> bool:
        try:
            watched = os.pidfd_open(pid)
        except ProcessLookupError:
            return True
        try:
            return bool(select.select([watched], [], [], 30)[0])
        finally:
            os.close(watched)

    return wait
