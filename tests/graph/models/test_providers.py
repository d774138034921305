from __future__ import annotations

import pytest

from interlock.graph.models import OpenAICompatibleChatModel
from interlock.graph.models.providers import PROVIDERS, UNKNOWN, Provider

ROWS = {row.name: row for row in PROVIDERS.values() if row is not UNKNOWN}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_every_row_makes_a_model(row: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    if row.key_variable:
        monkeypatch.setenv(row.key_variable, "sk-0123456789")
    if row.base_url is None:
        assert row.url_variable
        monkeypatch.setenv(row.url_variable, "https://host.example")
    elif row.url_variable:
        monkeypatch.delenv(row.url_variable, raising=False)
    model = OpenAICompatibleChatModel(model="m", provider=row.name)

    assert model.base_url == (row.base_url or f"https://host.example{row.url_suffix}")
    assert (model.api_key is None) is (row.key_variable is None)
    assert model.profile is not None
    assert model.profile.get("tool_calling") is True


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_keys_travel_encrypted(row: Provider) -> None:
    if row.key_variable and row.base_url:
        assert row.base_url.startswith("https://")
    else:
        assert row.base_url is None or "127.0.0.1" in row.base_url


def test_names_are_unique() -> None:
    names = [name for row in ROWS.values() for name in (row.name, *row.aliases)]

    assert len(names) == len(set(names))
