from __future__ import annotations

from collections.abc import Callable

import pytest

from interlock.graph.models.scripted import ScriptedChatModel
from interlock.middleware import ModelRequest
from interlock.middleware.redaction import GuardedChatModel, Redactor
from interlock.middleware.redaction.guarded_request import GuardedRequest, ModelGuards


def test_model_that_a_layer_puts_in_later_is_guarded(redactor: Callable[..., Redactor]) -> None:
    guards = ModelGuards(redactor())
    request = GuardedRequest.of(ModelRequest(model=ScriptedChatModel(["a"]), messages=[]), guards)

    other = request.override(model=ScriptedChatModel(["kim@example.com"]), tool_choice="any")

    assert isinstance(request.model, GuardedChatModel)
    assert other.model.invoke("hi").text == "[REDACTED_EMAIL]"
    with pytest.warns(DeprecationWarning, match="override"):
        other.model = ScriptedChatModel(["lee@example.com"])
    assert other.model.invoke("hi").text == "[REDACTED_EMAIL]"


def test_guards_of_several_layers_all_hold(redactor: Callable[..., Redactor]) -> None:
    request = ModelRequest(model=ScriptedChatModel(["a"]), messages=[])
    for kind in ("email", "ip"):
        request = GuardedRequest.of(request, ModelGuards(redactor(kind)))

    request = request.override(model=ScriptedChatModel(["kim@example.com at 10.0.0.1"]))

    assert request.model.invoke("hi").text == "[REDACTED_EMAIL] at [REDACTED_IP]"


def test_guarded_form_of_a_model_is_made_once(redactor: Callable[..., Redactor]) -> None:
    guards, model = ModelGuards(redactor()), ScriptedChatModel(["a"])

    assert guards(model) is guards(model)
    assert guards(guards(model)) is guards(model)
    others = [guards(ScriptedChatModel(["b"])) for _ in range(40)]
    assert len({id(other) for other in others}) == 40
