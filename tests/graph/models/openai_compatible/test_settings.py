from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from interlock.graph.models import OpenAICompatibleChatModel
from interlock.state.errors import ConfigurationError
from interlock.state.model_errors import ChatModelConnectionError

KEY = "sk-live-0123456789-do-not-show"
URL = "https://host.example/v1"


def build(**settings: Any) -> OpenAICompatibleChatModel:
    return OpenAICompatibleChatModel(**{"model": "m", "base_url": URL, "api_key": KEY, **settings})


@pytest.mark.parametrize(
    ("base_url", "words"),
    [
        ("host.example/v1", "no http or https scheme"),
        ("ftp://host/v1", "no http or https scheme"),
        ("https://", "names no host"),
        ("https://host:99999/v1", "not a valid URL"),
        ("https://host/v1?key=s3cret", "query or fragment"),
        ("https://host/v1#top", "query or fragment"),
        ("https://user:s3cret@host/v1", "holds credentials"),
        ("https://s3cret@host/v1", "holds credentials"),
        ("https://host/v1\nx", "spaces or control characters|not a valid URL"),
        ("https://ho st/v1", "spaces or control characters"),
        (7, "not text"),
    ],
)
def test_base_url_that_is_not_plain_is_refused(base_url: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words) as caught:
        build(base_url=base_url)

    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("given", [URL + "/", URL + "/chat/completions", URL])
def test_base_url_is_normalised(given: str) -> None:
    assert build(base_url=given).base_url == URL


@pytest.mark.parametrize(
    "key",
    ["", "   ", "bad key s3cret", "s3cret\n", "s3cret\r\nx: y", "s3cret-ü", 7, b"s3cret"],
    ids=repr,
)
@pytest.mark.parametrize("wrap", [False, True])
def test_key_that_is_none_is_refused_without_showing_it(key: Any, wrap: bool) -> None:
    if wrap and isinstance(key, str):
        key = SecretStr(key)
    with pytest.raises(ConfigurationError, match="api_key") as caught:
        build(api_key=key)

    assert "s3cret" not in repr(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "headers",
    [
        {"x-a": "s3cret\r\nx-b: 1"},
        {"x-a": "s3cret\n"},
        {"x-a": "s3cret ü"},
        {"x a": "1"},
        {"x\n": "1"},
        {7: "1"},
        {"x-a": 7},
        "x-a: 1",
    ],
    ids=repr,
)
def test_header_that_cannot_be_sent_is_refused_without_its_value(headers: Any) -> None:
    with pytest.raises(ConfigurationError, match="default_headers") as caught:
        build(default_headers=headers)

    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"temprature": 1}, "temprature"),
        ({"temperature": "hot"}, "temperature"),
        ({"timeout": 0}, "timeout is 0"),
        ({"timeout": float("nan")}, "timeout is nan"),
        ({"total_timeout": -1}, "total_timeout is -1"),
        ({"max_retries": -1}, "max_retries is -1"),
        ({"max_retries": True}, "max_retries is True"),
        ({"proxy": "s3cret@host"}, "proxy is no address"),
        ({"proxy": "ftp://host"}, "proxy is no address"),
        ({"proxy": "http://host:99999"}, "proxy is no address"),
        ({"proxy": "http://host:0"}, "proxy is no address"),
        ({"proxy": "http://ho\nst"}, "proxy is no address"),
        ({"ca_file": "nowhere.pem"}, "ca_file 'nowhere.pem' is no file"),
        ({"model": ""}, "model is ''"),
        ({"model": None}, "model is None"),
        ({"provider": "nobody"}, "Unknown provider 'nobody'"),
    ],
    ids=str,
)
def test_wrong_setting_is_named(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words) as caught:
        build(**settings)

    assert KEY not in repr(caught.value)


def test_key_comes_from_the_variable_of_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    model = OpenAICompatibleChatModel(model="m", provider="groq")

    assert model.api_key == SecretStr(KEY)
    assert model.base_url == "https://api.groq.com/openai/v1"


def test_missing_key_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        OpenAICompatibleChatModel(model="m")


def test_key_of_a_provider_is_not_sent_to_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    assert OpenAICompatibleChatModel(model="m", base_url=URL).api_key is None


@pytest.mark.parametrize(
    ("variable", "value", "provider", "url"),
    [
        (
            "AZURE_OPENAI_ENDPOINT",
            "https://me.openai.azure.com/",
            "azure",
            "https://me.openai.azure.com/openai/v1",
        ),
        ("OLLAMA_HOST", "127.0.0.1:9", "ollama", "http://127.0.0.1:9/v1"),
        ("OPENAI_BASE_URL", "https://host/v1", "openai", "https://host/v1"),
    ],
)
def test_address_comes_from_the_variable_of_the_provider(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, provider: str, url: str
) -> None:
    monkeypatch.setenv(variable, value)

    assert OpenAICompatibleChatModel(model="m", provider=provider, api_key=KEY).base_url == url


def test_provider_without_an_address_asks_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)
    with pytest.raises(ConfigurationError, match="AZURE_OPENAI_ENDPOINT or pass base_url"):
        OpenAICompatibleChatModel(model="m", provider="azure_openai", api_key=KEY)


@pytest.mark.parametrize(
    "changes",
    [
        {"base_url": "https://a:b@host"},
        {"proxy": "s3cret@host"},
        {"ca_file": "nowhere.pem"},
        {"timeout": 0},
        {"max_retries": -1},
        {"default_headers": {"x": "a\nb"}},
        {"default_query": {"x": 1}},
        {"api_key": "two words"},
        {"temprature": 1},
    ],
    ids=str,
)
def test_copy_checks_what_it_changes(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(changes))) as caught:
        build().model_copy(update=changes)

    assert "s3cret" not in str(caught.value)


def test_copy_hides_what_is_secret() -> None:
    changes = {
        "api_key": "sk-b",
        "proxy": "http://a:s3cret@host",
        "default_query": {"key": "s3cret"},
    }
    copied = build().model_copy(update=changes)

    assert copied.api_key == SecretStr("sk-b")
    assert "s3cret" not in repr(copied) + repr(vars(copied))


@pytest.mark.parametrize("content", [b"", b"no certificate", b"\xff" * 100], ids=repr)
def test_file_without_certificates_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "ca.pem"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"ca\.pem' cannot be used.*PEM certificates"):
        build(ca_file=str(file))


def test_a_proxy_of_a_kind_that_is_not_installed_names_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(ConfigurationError, match="pip install socksio"):
        build(proxy="socks5://user:s3cret@host:1080")


@pytest.mark.parametrize("seconds", [float("inf"), 1e300, 10**400], ids=["inf", "float", "int"])
def test_a_time_limit_beyond_all_sense_still_works(seconds: float) -> None:
    model = build(
        timeout=seconds, total_timeout=seconds, base_url="http://127.0.0.1:1", max_retries=0
    )
    with pytest.raises(ChatModelConnectionError):
        model.invoke("hi")


@pytest.mark.parametrize("query", [{"x": 1}, {1: "x"}, ["x"], {"x": "\ud83d"}], ids=ascii)
def test_query_that_is_not_text_is_refused(query: Any) -> None:
    with pytest.raises(ConfigurationError, match="default_query"):
        build(default_query=query)
