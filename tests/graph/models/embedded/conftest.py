"""The embedded model, and the end of its processes."""

from __future__ import annotations

import os
import select
from collections.abc import Callable

import pytest

from interlock.graph.models import EmbeddedChatModel


@pytest.fixture
def model(embedded_model: EmbeddedChatModel) -> EmbeddedChatModel:
    """The model that all tests share."""
    return embedded_model


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
