from __future__ import annotations

import pytest

from interlock.middleware.provider_names import provider_of, same_provider


@pytest.mark.parametrize(
    ("in_message", "of_model", "same"),
    [
        ("openai", "openai", True),
        ("bedrock_converse", "amazon_bedrock", True),
        ("openai", "openai-mantle", True),
        ("openai", "anthropic", False),
        ("bedrock", "anthropic", False),
        ("openai", None, False),
    ],
)
def test_aliases_mean_the_same_provider(in_message: str, of_model: str | None, same: bool) -> None:
    assert same_provider(in_message, of_model) is same


def test_model_without_tracing_has_no_provider() -> None:
    assert provider_of(object()) is None
