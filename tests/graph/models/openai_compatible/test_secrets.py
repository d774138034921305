"""The key of the client goes to the provider and nowhere else."""

from __future__ import annotations

import copy
import io
import json
import logging
import pickle
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.load import dumps
from langchain_core.tracers import BaseTracer
from langchain_core.tracers.schemas import Run
from pydantic import SecretStr

from interlock.graph.models import OpenAICompatibleChatModel
from interlock.state.errors import ChatModelError

Net = Any  # the loopback network of conftest.py
KEY = "sk-live-0123456789-do-not-show"
HEADER = "header-secret-0123456789"
QUERY = "query secret/0123456789"
QUERY_IN_A_URL = "query+secret%2F0123456789"
CALL = "call-secret-0123456789"
SECRETS = (KEY, HEADER, QUERY, QUERY_IN_A_URL, CALL, "proxy-secret")
PROXY = "http://user:proxy-secret@127.0.0.1:1"


EXTRAS = {"extra_headers": {"x-api-key": CALL}, "extra_query": {"token": CALL}}


@pytest.fixture
def model() -> OpenAICompatibleChatModel:
    return OpenAICompatibleChatModel(
        model="m",
        base_url="http://127.0.0.1:1/v1",
        api_key=KEY,
        default_headers={"x-auth-token": HEADER},
        default_query={"api-version": "1", "api-key": QUERY},
        proxy=PROXY,
    )


SHOWN: list[Callable[[OpenAICompatibleChatModel], object]] = [
    repr,
    str,
    lambda m: m.model_dump(),
    lambda m: m.model_dump_json(),
    dumps,
    lambda m: json.dumps(m.to_json(), default=repr),
    lambda m: m.asdict(),
    lambda m: m.lc_attributes,
    vars,
    pickle.dumps,
    lambda m: repr(m.bind_tools([])),
    lambda m: repr(m.connections),
    lambda m: repr(copy.deepcopy(m)),
]


@pytest.mark.parametrize("show", SHOWN, ids=range(len(SHOWN)))
def test_no_form_of_the_model_shows_a_secret(
    model: OpenAICompatibleChatModel, show: Callable[[OpenAICompatibleChatModel], object]
) -> None:
    shown = repr(show(model))

    for secret in SECRETS:
        assert secret not in shown


class _Traced(BaseTracer):
    def __init__(self) -> None:
        super().__init__()
        self.kept: list[str] = []

    def _persist_run(self, run: Run) -> None:
        self.kept.append(run.model_dump_json())


def answers(net: Net) -> dict[str, Any]:
    """What a provider may say, each with everything in it that it was told in confidence."""
    told = f"{KEY} {HEADER} {QUERY} {QUERY_IN_A_URL} {CALL}"
    return {
        "whole": net.whole(net.completion()),
        "error": net.whole({"error": {"message": f"bad key {told}", "code": KEY}}),
        "refused": net.whole(f"<html><title>{KEY}</title>{told}".encode(), 401),
        "refused in words": net.whole({"error": {"message": told, "type": CALL}}, 400),
        "stream": net.streamed({"content": "hi"}, "stop"),
        "broken": net.streamed(f"data: {told}\n\n".encode()),
        "error event": net.streamed(f"event: error\ndata: {told}\n\n".encode()),
        "cut": net.streamed({"content": "hi"}, done=False, end="cut"),
    }


@pytest.mark.parametrize(
    "how",
    ["whole", "error", "refused", "refused in words", "stream", "broken", "error event", "cut"],
)
def test_no_error_log_or_trace_shows_a_secret(
    net: Net,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    ask: Any,
    how: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    server = net.provider(answers(net)[how])
    model = net.client(
        server,
        api_key=KEY,
        default_headers={"x-auth-token": HEADER},
        default_query={"api-key": QUERY},
        streaming=True,
    )
    traced, shown = _Traced(), io.StringIO()
    try:
        ask(model, config={"callbacks": [traced]}, **EXTRAS)
    except ChatModelError as error:
        shown.write(repr(error) + repr(vars(error)) + "".join(traceback.format_exception(error)))

    seen = server.seen[0]
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert (seen.headers["x-api-key"], seen.path.count(QUERY_IN_A_URL)) == (CALL, 1)
    assert traced.kept
    assert any(record.name.startswith("httpcore") for record in caplog.records)
    everything = (
        shown.getvalue() + caplog.text + "".join(capsys.readouterr()) + "".join(traced.kept)
    )
    assert [secret for secret in SECRETS if secret in everything] == []


@pytest.mark.parametrize("streaming", [True, False])
def test_no_frame_of_a_traceback_shows_a_secret(net: Net, streaming: bool) -> None:
    server = net.provider(net.whole({"error": {"message": "bad key"}}, 401))
    model = net.client(server, default_headers={"x-auth-token": HEADER}, streaming=streaming)
    with pytest.raises(ChatModelError) as caught:
        model.invoke("hi")

    told = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    shown = repr([frame.locals for frame in told.stack if frame.filename != __file__])
    assert KEY not in shown
    assert HEADER not in shown


def test_pickle_asks_the_environment_for_the_key_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    model = OpenAICompatibleChatModel(model="m", provider="groq", temperature=0.5)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - made here

    assert (again.temperature, again.api_key) == (0.5, SecretStr(KEY))


def test_copies_work_and_have_their_own_connections(net: Net) -> None:
    model = net.client(net.provider(net.whole(net.completion())))
    model.invoke("hi")
    deep = copy.deepcopy(model)

    assert deep.connections is not model.connections
    assert deep.invoke("hi").content == "hello"
    deep.connections.close()
