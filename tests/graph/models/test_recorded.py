from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from interlock.graph.models import OpenAICompatibleChatModel, recorded
from interlock.state.errors import ConfigurationError
from interlock.state.model_errors import ChatModelRequestError

Net = Any  # the loopback network of conftest.py
Ask = Callable[..., Any]


def elsewhere(path: Path) -> OpenAICompatibleChatModel:
    """The recording with another key, and nobody at the other end."""
    model = OpenAICompatibleChatModel(
        model="test-model", base_url="http://127.0.0.1:1/v1", api_key="sk-other", max_retries=0
    )
    return recorded(model, path)


def test_recorded_answer_is_replayed_without_the_provider(
    net: Net, tmp_path: Path, ask: Ask, gather: Ask
) -> None:
    path = tmp_path / "cassettes" / "chat.json"
    server = net.provider(net.whole(net.completion()), net.streamed({"content": "grüße"}, "stop"))
    model = recorded(net.client(server), path)
    first = (ask(model), gather(model))
    again = (ask(elsewhere(path)), gather(elsewhere(path)))

    assert [m.content for m in first] == ["hello", "grüße"]
    assert [m.content for m in again] == ["hello", "grüße"]
    assert [m.response_metadata for m in again] == [m.response_metadata for m in first]
    assert len(server.seen) == 2


def test_equal_requests_are_replayed_in_their_order(net: Net, tmp_path: Path, ask: Ask) -> None:
    path = tmp_path / "chat.json"
    answers = [net.whole(net.completion(text)) for text in ("a", "b")]
    model = recorded(net.client(net.provider(*answers)), path)
    assert [ask(model).content for _ in range(2)] == ["a", "b"]
    replayed = elsewhere(path)

    assert [ask(replayed).content for _ in range(2)] == ["a", "b"]
    with pytest.raises(ChatModelRequestError, match="only 2 times recorded"):
        ask(replayed)


def test_request_that_was_not_recorded_is_refused(net: Net, tmp_path: Path, ask: Ask) -> None:
    path = tmp_path / "chat.json"
    ask(recorded(net.client(net.provider(net.whole(net.completion()))), path))

    with pytest.raises(
        ChatModelRequestError, match=r"not recorded in .*chat\.json.*something else"
    ):
        ask(elsewhere(path), "something else")


def test_refusals_are_recorded_too(net: Net, tmp_path: Path, ask: Ask) -> None:
    path = tmp_path / "chat.json"
    busy = net.whole({"error": {"message": "busy"}}, 429, retry_after="0")
    model = net.client(net.provider(busy, net.whole(net.completion())), max_retries=1)
    assert ask(recorded(model, path)).content == "hello"

    assert ask(elsewhere(path).model_copy(update={"max_retries": 1})).content == "hello"


SECRETS = ("header-secret", "query secret/1", "query%20secret%2F1", "call-secret")


@pytest.mark.parametrize("status", [200, 400])
def test_no_key_header_or_query_is_written(
    net: Net, tmp_path: Path, key: str, ask: Ask, status: int
) -> None:
    path = tmp_path / "chat.json"
    told = " ".join((key, *SECRETS))
    first, second = told[:12].encode(), told[12:].encode()  # a secret across two blocks
    answer = net.whole({}, status, set_cookie=key, x_request_id=f"{key}header-secret")
    answer.pieces = [b'{"choices": [{"message": {"content": "', first, second, b'"}}]}']
    model = net.client(
        net.provider(answer),
        default_headers={"x-auth-token": "header-secret", "cookie": "a=header-secret"},
        default_query={"api-version": "1", "api-key": "query secret/1"},
    )
    with suppress(ChatModelRequestError):
        extras = {
            "extra_headers": {"x-api-key": "call-secret"},
            "extra_query": {"sig": "call-secret"},
        }
        ask(recorded(model, path), f"my key is {key} and call-secret", **extras)

    text = path.read_text("utf-8")
    assert "api-version=1&api-key=***" in text
    for secret in (key, *SECRETS, "Bearer", "127.0.0.1"):
        assert secret not in text


def test_a_key_in_the_query_is_another_when_it_is_replayed(
    net: Net, tmp_path: Path, ask: Ask
) -> None:
    path = tmp_path / "chat.json"
    model = net.client(
        net.provider(net.whole(net.completion())), default_query={"v": "1", "api-key": "first"}
    )
    ask(recorded(model, path))
    with_another = model.model_copy(update={"default_query": {"v": "1", "api-key": "second"}})
    of_another_version = model.model_copy(update={"default_query": {"v": "2", "api-key": "first"}})

    assert ask(recorded(with_another, path)).content == "hello"
    with pytest.raises(ChatModelRequestError, match="not recorded"):
        ask(recorded(of_another_version, path))


def test_half_a_file_is_never_seen(net: Net, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    recorded(net.client(net.provider(net.whole(net.completion()))), path).invoke("hi")

    assert json.loads(path.read_text("utf-8"))["version"] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["chat.json"]


def test_recording_can_start_anew(net: Net, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    model = net.client(net.provider(*[net.whole(net.completion(text)) for text in ("a", "b")]))
    recorded(model, path).invoke("hi")
    recorded(model, path, mode="record").invoke("hi")

    assert elsewhere(path).invoke("hi").content == "b"


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"version": 99}', "not json"],
    ids=["empty", "list", "none", "new", "text"],
)
def test_file_that_is_no_cassette_is_refused(net: Net, tmp_path: Path, content: str) -> None:
    path = tmp_path / "chat.json"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(ConfigurationError, match=r"chat\.json.* to record again"):
        recorded(net.client(net.provider()), path)


def test_replay_needs_a_file(net: Net, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="does not exist"):
        recorded(net.client(net.provider()), tmp_path / "none.json", mode="replay")


def test_what_cannot_be_recorded_is_named(net: Net, tmp_path: Path) -> None:
    bound: Any = net.client(net.provider()).bind_tools([])
    with pytest.raises(ConfigurationError, match="cannot be recorded"):
        recorded(bound, tmp_path / "chat.json")
