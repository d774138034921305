"""The chat model against a provider on loopback, in both calling styles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.messages import AIMessage

from interlock.graph.models import OpenAICompatibleChatModel
from interlock.state.errors import ConfigurationError, ToolDefinitionError

ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add.",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
    },
}
Net = Any  # the loopback network of conftest.py
Fixture = Callable[..., Any]


def test_request_has_settings_key_and_messages(net: Net, ask: Fixture, key: str) -> None:
    server = net.provider(net.whole(net.completion()))
    model = net.client(server, temperature=0.5, max_tokens=9, stop=["x"], model_kwargs={"top_k": 3})

    assert ask(model, "hi", seed=7).content == "hello"
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {key}"
    assert seen.headers["content-type"] == "application/json"
    assert seen.body == {
        "model": "test-model",
        "temperature": 0.5,
        "max_tokens": 9,
        "stop": ["x"],
        "top_k": 3,
        "seed": 7,
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_settings_of_a_call_are_merged_over_those_of_the_model(net: Net, ask: Fixture) -> None:
    server = net.provider(net.whole(net.completion()))
    model = net.client(
        server,
        temperature=0.5,
        extra_body={"provider": {"order": ["a"], "only": ["b"]}},
        default_headers={"x-a": "1", "x-b": "1"},
        default_query={"api-version": "1"},
    )
    ask(
        model,
        temperature=None,
        stop=["end"],
        extra_body={"provider": {"order": ["c"]}},
        extra_headers={"x-b": "2"},
        extra_query={"q": "2"},
    )

    (seen,) = server.seen
    assert "temperature" not in seen.body
    assert seen.body["stop"] == ["end"]
    assert seen.body["provider"] == {"order": ["c"], "only": ["b"]}
    assert (seen.headers["x-a"], seen.headers["x-b"]) == ("1", "2")
    assert seen.path == "/v1/chat/completions?api-version=1&q=2"


def test_no_key_sends_no_authorization(net: Net, ask: Fixture) -> None:
    server = net.provider(net.whole(net.completion()))
    ask(net.client(server, api_key=None))

    assert "authorization" not in server.seen[0].headers


def test_environment_proxies_are_not_used(
    net: Net, monkeypatch: pytest.MonkeyPatch, ask: Fixture
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    assert ask(net.client(net.provider(net.whole(net.completion())))).content == "hello"


def test_redirect_is_not_followed(net: Net, ask: Fixture) -> None:
    target = net.provider(net.whole(net.completion()))
    server = net.provider(net.whole({}, 307, location=target.url))
    with pytest.raises(Exception, match="HTTP 307"):
        ask(net.client(server))

    assert target.seen == []


def test_stream_adds_up_to_the_message(net: Net, gather: Fixture) -> None:
    server = net.provider(net.streamed({"content": "he"}, {"content": "llo"}, "stop"))
    found = gather(net.client(server))

    assert (found.content, found.chunk_position) == ("hello", "last")
    assert found.response_metadata["finish_reason"] == "stop"
    assert str(found.id).startswith("lc_run--")
    assert server.seen[0].body["stream"] is True
    assert server.seen[0].body["stream_options"] == {"include_usage": True}


def test_stream_usage_can_be_left_out(net: Net, gather: Fixture) -> None:
    server = net.provider(net.streamed({"content": "hi"}, "stop"))
    gather(net.client(server, stream_usage=False))

    assert "stream_options" not in server.seen[0].body


def test_invoke_that_streams_inside_gives_a_plain_message(net: Net, ask: Fixture) -> None:
    call = {
        "tool_calls": [{"index": 0, "id": "c1", "function": {"name": "add", "arguments": '{"a'}}]
    }
    found = ask(net.client(net.provider(net.streamed(call, "length")), streaming=True))

    assert type(found) is AIMessage
    assert found.tool_calls == []
    assert found.invalid_tool_calls[0]["args"] == '{"a'


def test_whole_answer_to_a_stream_request_is_taken(net: Net, gather: Fixture) -> None:
    found = gather(net.client(net.provider(net.whole(net.completion("hi")))))

    assert (found.content, found.usage_metadata["total_tokens"]) == ("hi", 10)


def test_stream_to_a_whole_request_is_taken(net: Net, ask: Fixture) -> None:
    found = ask(net.client(net.provider(net.streamed({"content": "hi"}, "stop"))))

    assert (found.content, type(found)) == ("hi", AIMessage)


def test_several_answers_cannot_be_streamed(net: Net, gather: Fixture) -> None:
    with pytest.raises(ConfigurationError, match="n is 2"):
        gather(net.client(net.provider(net.streamed("stop"))), n=2)


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", "auto"),
        ("none", "none"),
        (False, "none"),
        ("any", "required"),
        ("required", "required"),
        (True, "required"),
        ("add", {"type": "function", "function": {"name": "add"}}),
        (
            {"type": "function", "function": {"name": "add"}},
            {"type": "function", "function": {"name": "add"}},
        ),
        ({"type": "function", "name": "add"}, {"type": "function", "function": {"name": "add"}}),
        (
            {"type": "allowed_tools", "allowed_tools": {}},
            {"type": "allowed_tools", "allowed_tools": {}},
        ),
    ],
    ids=str,
)
def test_tool_choice_has_many_forms(net: Net, choice: Any, sent: Any) -> None:
    server = net.provider(net.whole(net.completion()))
    net.client(server).bind_tools([ADD], tool_choice=choice, parallel_tool_calls=False).invoke("hi")

    assert server.seen[0].body["tools"] == [ADD]
    assert server.seen[0].body["tool_choice"] == sent
    assert server.seen[0].body["parallel_tool_calls"] is False


@pytest.mark.parametrize(
    "choice", ["sub", {"type": "function", "function": {"name": "sub"}}, 7, {}]
)
def test_tool_choice_that_names_no_tool_is_refused(net: Net, choice: Any) -> None:
    with pytest.raises(ConfigurationError, match="tool_choice"):
        net.client(net.provider()).bind_tools([ADD], tool_choice=choice)


def test_no_tools_are_not_sent(net: Net) -> None:
    server = net.provider(net.whole(net.completion()))
    net.client(server).bind_tools([], tool_choice="auto", parallel_tool_calls=True).invoke("hi")

    assert server.seen[0].body.keys() == {"model", "messages"}


def test_two_tools_of_one_name_are_refused(net: Net) -> None:
    with pytest.raises(ToolDefinitionError, match="Two tools are named 'add'"):
        net.client(net.provider()).bind_tools([ADD, ADD])


def test_strict_closes_the_schema(net: Net) -> None:
    server = net.provider(net.whole(net.completion()))
    net.client(server).bind_tools([ADD], strict=True).invoke("hi")
    (tool,) = server.seen[0].body["tools"]

    assert tool["function"]["strict"] is True
    assert tool["function"]["parameters"]["additionalProperties"] is False


def test_habits_of_the_provider_are_followed(net: Net) -> None:
    server = net.provider(net.streamed({"content": "hi"}, "stop"))
    mistral = net.client(server, provider="mistralai", max_tokens=5)
    list(mistral.bind_tools([ADD], tool_choice="any").stream("hi"))
    list(net.client(server, provider="azure_openai", max_tokens=5).stream("hi"))
    first, second = server.seen

    assert first.body["tool_choice"] == "any"
    assert "stream_options" not in first.body
    assert first.body["max_tokens"] == 5
    assert second.body["max_completion_tokens"] == 5
    assert "authorization" not in second.headers
    assert second.headers["api-key"]


def test_usage_reaches_callbacks(net: Net, ask: Fixture) -> None:
    counted = UsageMetadataCallbackHandler()
    ask(net.client(net.provider(net.whole(net.completion()))), config={"callbacks": [counted]})

    assert counted.usage_metadata["test-model"]["total_tokens"] == 10


def test_profile_says_what_the_provider_can() -> None:
    def profile(**settings: Any) -> Any:
        return OpenAICompatibleChatModel(api_key="sk-1", **settings).profile

    assert profile(model="gpt-5")["structured_output"] is True
    assert profile(model="gpt-4")["structured_output"] is False
    assert profile(model="m", provider="ollama")["structured_output"] is False
    assert profile(model="m", base_url="http://127.0.0.1:1/v1") is None


@pytest.mark.parametrize("tools", [3, "add", ["add"], {"name": "add"}], ids=str)
def test_tools_of_a_call_that_are_none_are_refused(net: Net, ask: Fixture, tools: Any) -> None:
    server = net.provider(net.whole(net.completion()))
    with pytest.raises(ConfigurationError, match="bind_tools"):
        ask(net.client(server), tools=tools, tool_choice="add")

    assert server.seen == []
