from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # starts the engine


@dataclass
class Bill:
    """A bill."""

    company: str
    total: float


def test_embedded_model_reads_what_it_can_and_says_what_it_cannot(
    extracted: Callable[..., Any],
) -> None:
    pytest.importorskip("needle")
    texts = ["Bill of Brightwater Ltd: 480.50 EUR in total.", "much too long " * 300, " "]
    results, _ = extracted("embedded:needle3", Bill, texts)

    assert results[0].value == Bill("Brightwater Ltd", 480.5)
    assert [r.error_type for r in results[1:]] == ["ChatModelContextOverflowError", "EmptyRecord"]
    assert "Shorten it or split it" in results[1].error
    assert results[1].attempts == 1
