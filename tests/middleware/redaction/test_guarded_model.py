from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from interlock.graph.models.scripted import ScriptedChatModel
from interlock.middleware.redaction import GuardedChatModel, Redactor

Make = Callable[..., Redactor]
TEXT = "Dear kim@example.com, " + "as I said before, " * 20 + "ask lee@example.org."
CALL = {"name": "send", "args": {"to": "kim@example.com"}, "id": "c1", "type": "tool_call"}


def guarded(redactor: Make, *steps: Any, **fields: Any) -> GuardedChatModel:
    return GuardedChatModel.around(ScriptedChatModel(list(steps), **fields), redactor())


async def ask(model: Any, mode: str, listener: BaseCallbackHandler) -> AIMessage:
    config = {"callbacks": [listener]}
    if mode == "invoke":
        return model.invoke("hi", config)  # type: ignore[no-any-return]
    if mode == "ainvoke":
        return await model.ainvoke("hi", config)  # type: ignore[no-any-return]
    if mode == "stream":
        chunks = list(model.stream("hi", config))
    else:
        chunks = [chunk async for chunk in model.astream("hi", config)]
    assert len(chunks) > 5
    return sum(chunks[1:], chunks[0])  # type: ignore[no-any-return]


@pytest.mark.parametrize("mode", ["invoke", "ainvoke", "stream", "astream"])
async def test_nobody_hears_what_the_guard_hides(redactor: Make, listener: Any, mode: str) -> None:
    model = guarded(redactor, AIMessage(TEXT, tool_calls=[CALL])).bind_tools([])

    reply = await ask(model, mode, listener)

    assert reply.text == TEXT.replace("kim@example.com", "[REDACTED_EMAIL]").replace(
        "lee@example.org", "[REDACTED_EMAIL]"
    )
    assert reply.tool_calls[0]["args"] == {"to": "[REDACTED_EMAIL]"}
    assert any("on_llm_end" in heard for heard in listener.heard)
    assert not [h for h in listener.heard if "kim@" in h or "lee@" in h]


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
async def test_runnable_instead_of_a_model_is_guarded_too(
    redactor: Make, listener: Any, mode: str
) -> None:
    inner = ScriptedChatModel([TEXT]).with_fallbacks([ScriptedChatModel([TEXT])])
    model = GuardedChatModel.around(inner, redactor())

    reply = await ask(model, mode, listener)

    assert "@" not in reply.text
    assert not [h for h in listener.heard if "kim@" in h]


def test_answer_of_a_runnable_may_be_a_text(redactor: Make) -> None:
    model = GuardedChatModel.around(RunnableLambda(lambda _: "kim@example.com"), redactor())

    assert model.invoke("hi").text == "[REDACTED_EMAIL]"
    assert "".join(c.text for c in model.stream("hi")) == "[REDACTED_EMAIL]"


def test_tools_are_bound_in_the_inner_models_notation(redactor: Make) -> None:
    inner = ScriptedChatModel(["ok"])
    tool = {"name": "add", "description": "Add."}

    GuardedChatModel.around(inner, redactor()).bind_tools([tool]).invoke("hi")

    assert inner.options[0]["tools"][0]["function"]["name"] == "add"


def test_guarded_model_looks_like_the_inner_one(redactor: Make) -> None:
    inner = ScriptedChatModel(["ok"], profile={"max_input_tokens": 5}, tags=["t"])
    model = GuardedChatModel.around(inner, redactor())

    assert (model.profile, model.tags, model.name) == (inner.profile, ["t"], "ScriptedChatModel")
    assert model.requests is inner.requests
    assert model._get_ls_params() == inner._get_ls_params()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(AttributeError):
        _ = model.nothing_of_this_name


def test_repr_shows_neither_script_nor_key(redactor: Make) -> None:
    assert "kim@" not in repr(guarded(redactor, TEXT))
    assert "secret" not in repr(guarded(redactor, TEXT))
