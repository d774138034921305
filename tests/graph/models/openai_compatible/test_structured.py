from __future__ import annotations

import json
from typing import Any, TypedDict

import pytest
from pydantic import BaseModel, Field

from interlock.state.errors import (
    ConfigurationError,
    StructuredOutputError,
    StructuredOutputValidationError,
)
from interlock.state.model_errors import ChatModelRefusalError

Net = Any  # the loopback network of conftest.py


class Person(BaseModel):
    """A person."""

    name: str
    age: int = Field(ge=0)


class Place(TypedDict):
    """A place."""

    name: str


SCHEMA = {
    "title": "Person",
    "description": "A person.",
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
}
TEXT = '{"name": "Ada", "age": 36}'


def called(net: Net, arguments: str, name: str = "Person", finish: str = "tool_calls") -> Any:
    call = {"id": "c1", "function": {"name": name, "arguments": arguments}}
    return net.whole(net.completion(None, finish, tool_calls=[call]))


@pytest.mark.parametrize("schema", [Person, SCHEMA], ids=["class", "schema"])
@pytest.mark.parametrize("method", ["json_schema", "json_mode", "function_calling"])
def test_answer_is_an_instance_of_the_schema(net: Net, ask: Any, schema: Any, method: str) -> None:
    by_call = method == "function_calling"
    server = net.provider(called(net, TEXT) if by_call else net.whole(net.completion(TEXT)))
    found = ask(net.client(server).with_structured_output(schema, method=method))

    assert found == (Person(name="Ada", age=36) if schema is Person else json.loads(TEXT))
    body = server.seen[0].body
    assert ("tools" in body) is by_call
    if not by_call:
        assert body["response_format"]["type"] == (
            "json_object" if method == "json_mode" else method
        )


def test_strict_reaches_the_provider(net: Net) -> None:
    server = net.provider(net.whole(net.completion(TEXT)))
    model = net.client(server)
    model.with_structured_output(Person, method="json_schema", strict=True).invoke("hi")
    asked = server.seen[0].body["response_format"]["json_schema"]

    assert (asked["name"], asked["strict"]) == ("Person", True)
    assert asked["schema"]["additionalProperties"] is False


@pytest.mark.parametrize(("provider", "key"), [("openai", "response_format"), ("groq", "tools")])
def test_method_follows_the_profile(net: Net, provider: str, key: str) -> None:
    server = net.provider(called(net, TEXT), net.whole(net.completion(TEXT)))
    model = net.client(server, provider=provider).with_structured_output(Person, include_raw=True)
    model.invoke("hi")

    assert key in server.seen[0].body


def test_typed_dict_is_a_schema(net: Net) -> None:
    server = net.provider(called(net, '{"name": "Rome"}', "Place"))

    assert net.client(server).with_structured_output(Place).invoke("hi") == {"name": "Rome"}


def test_code_fence_is_no_part_of_the_answer(net: Net) -> None:
    server = net.provider(net.whole(net.completion(f"```json\n{TEXT}\n```")))
    model = net.client(server).with_structured_output(SCHEMA, method="json_mode")

    assert model.invoke("hi")["name"] == "Ada"


@pytest.mark.parametrize("schema", [Person, SCHEMA], ids=["class", "schema"])
def test_answer_that_does_not_fit_is_an_error(net: Net, schema: Any) -> None:
    server = net.provider(called(net, '{"name": "Ada", "age": -1}'))
    with pytest.raises(StructuredOutputValidationError, match="age") as caught:
        net.client(server).with_structured_output(schema).invoke("hi")

    assert caught.value.ai_message.tool_calls


@pytest.mark.parametrize(
    ("content", "finish", "words"),
    [("no idea", "stop", "no JSON"), (TEXT, "length", "incomplete"), ("", "stop", "no JSON")],
)
def test_missing_answer_is_an_error(net: Net, content: str, finish: str, words: str) -> None:
    server = net.provider(net.whole(net.completion(content, finish)))
    with pytest.raises(StructuredOutputError, match=words):
        net.client(server).with_structured_output(Person, method="json_schema").invoke("hi")


@pytest.mark.parametrize("arguments", [TEXT[:-3], "[1]"], ids=["cut", "array"])
def test_broken_call_is_an_error_with_its_reason(net: Net, arguments: str) -> None:
    with pytest.raises(StructuredOutputError, match="arguments"):
        net.client(net.provider(called(net, arguments))).with_structured_output(Person).invoke("hi")


def test_refusal_is_an_error_of_its_own(net: Net) -> None:
    server = net.provider(net.whole(net.completion(None, refusal="I will not")))
    with pytest.raises(ChatModelRefusalError, match="I will not") as caught:
        net.client(server).with_structured_output(Person).invoke("hi")

    assert caught.value.raw_message is not None


def test_raw_answer_and_error_can_be_had(net: Net) -> None:
    server = net.provider(net.whole(net.completion("no idea")))
    model = net.client(server).with_structured_output(Person, include_raw=True)
    found = model.invoke("hi")

    assert found["raw"].content == "no idea"
    assert found["parsed"] is None
    assert isinstance(found["parsing_error"], StructuredOutputError)


def test_stream_of_structured_output_gives_the_whole(net: Net) -> None:
    server = net.provider(net.streamed({"content": TEXT[:9]}, {"content": TEXT[9:]}, "stop"))
    model = net.client(server).with_structured_output(Person, method="json_schema")

    assert list(model.stream("hi")) == [Person(name="Ada", age=36)]


@pytest.mark.parametrize("schema", [7, {}, {"type": "object"}], ids=repr)
def test_what_gives_no_schema_is_refused(net: Net, schema: Any) -> None:
    with pytest.raises(ConfigurationError, match="gives no schema"):
        net.client(net.provider()).with_structured_output(schema)


def test_unknown_method_is_refused(net: Net) -> None:
    with pytest.raises(ConfigurationError, match="Unknown method 'guess'"):
        net.client(net.provider()).with_structured_output(Person, method="guess")
