from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest

from interlock.graph.models import EmbeddedChatModel

pytestmark = pytest.mark.slow  # starts the engine


@dataclass
class Bill:
    """A bill."""

    company: str
    total: float


@pytest.fixture(scope="module")
def model() -> Iterator[EmbeddedChatModel]:
    """One engine for all: it takes long to start."""
    if find_spec("needle") is None:
        pytest.skip("the embedded model is not installed")
    model = EmbeddedChatModel()
    yield model
    model.close()


def test_embedded_model_reads_what_it_can_and_says_what_it_cannot(
    extracted: Callable[..., Any], model: EmbeddedChatModel
) -> None:
    texts = ["Bill of Brightwater Ltd: 480.50 EUR in total.", "much too long " * 300, " "]
    results, _ = extracted(model, Bill, texts)

    assert results[0].value == Bill("Brightwater Ltd", 480.5)
    assert [r.error_type for r in results[1:]] == ["ChatModelContextOverflowError", "EmptyRecord"]
    assert "Shorten it or split it" in results[1].error
    assert results[1].attempts == 1
