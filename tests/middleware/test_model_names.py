from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from interlock.middleware import model_names
from interlock.middleware.model_names import init_chat_model, resolve_names_with
from interlock.state.errors import ConfigurationError


@pytest.fixture(autouse=True)
def _resolver() -> Iterator[None]:
    before = list(model_names.RESOLVERS)
    yield
    model_names.RESOLVERS[:] = before


def test_name_is_resolved_by_the_newest_resolver(scripted: Any) -> None:
    model = scripted("hi")
    resolve_names_with(lambda _: scripted("other"))
    resolve_names_with({"p:m": model}.__getitem__)

    assert init_chat_model("p:m") is model


def test_name_without_a_resolver_is_an_error() -> None:
    model_names.RESOLVERS.clear()

    with pytest.raises(ConfigurationError, match="'p:m'"):
        init_chat_model("p:m")
