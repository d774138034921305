"""How much the engine has to read."""

from __future__ import annotations

import pytest

from interlock.graph.models.embedded.tokens import token_estimate


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("What is the weather?", 6), ("12.50", 5), ("天气", 6), ("x" * 60, 10)],
)
def test_tokens_are_estimated(text: str, tokens: int) -> None:
    assert token_estimate(text) == tokens
