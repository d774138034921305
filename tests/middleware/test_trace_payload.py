from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command

from interlock.middleware.request import ExtendedModelResponse, ModelRequest, ModelResponse
from interlock.middleware.trace_payload import HookInput, without_keys

PRIVATE = frozenset({"vault"})
STATE: dict[str, Any] = {"messages": [], "vault": {"token": "value"}}


def test_a_state_is_shown_without_private_keys() -> None:
    assert without_keys(STATE, PRIVATE) == {"messages": []}
    assert STATE["vault"]


@pytest.mark.parametrize("value", [{"messages": []}, [], "text", None, AIMessage("x"), Command()])
def test_what_has_no_private_keys_is_shown_as_it_is(value: Any) -> None:
    assert without_keys(value, PRIVATE) == value
    assert without_keys(STATE, frozenset()) is STATE


def test_an_update_in_a_command_a_list_or_a_response_is_shown_without_them() -> None:
    command: Command[Any] = Command(update=STATE, goto="model")
    response = ExtendedModelResponse(ModelResponse([]), command)

    assert without_keys(command, PRIVATE) == Command(update={"messages": []}, goto="model")
    assert without_keys([command, "x"], PRIVATE)[0].update == {"messages": []}
    assert without_keys(response, PRIVATE).command.update == {"messages": []}
    assert command.update is STATE


def test_a_request_is_shown_with_such_a_state() -> None:
    @dataclass
    class Runtime:
        state: Any
        config: Any

    model: Any = object()
    runtime: Any = Runtime(STATE, {"configurable": {"channels": STATE}})
    request = ModelRequest[Any](model=model, messages=[], state=STATE, runtime=runtime)

    shown = without_keys({"request": request}, PRIVATE)["request"]

    assert "value" not in repr((shown.state, shown.runtime))
    assert request.runtime is runtime


def test_the_input_of_a_hook_has_items_but_no_values() -> None:
    shown = HookInput(STATE)

    assert dict(shown.items()) == dict(shown) == STATE
    assert list(shown.values()) == []
