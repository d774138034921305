"""When a person is asked."""

from __future__ import annotations

from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from interlock.middleware import (
    AlwaysAskPolicy,
    AskOncePolicy,
    ConfidencePolicy,
    NeverAskPolicy,
    PredicatePolicy,
    ReviewContext,
)
from interlock.middleware.approval.policy import Verdict, confirmation_key, verdict_of
from interlock.state import ConfigurationError


def context(confirmed: Any = None, **metadata: Any) -> ReviewContext:
    call: Any = {"name": "send", "args": {"to": "a"}, "id": "c1", "type": "tool_call"}
    runtime: Any = None
    request = ToolCallRequest(tool_call=call, tool=None, state={}, runtime=runtime)
    reply = AIMessage("", tool_calls=[call], response_metadata=metadata)
    return ReviewContext(request, reply, confirmed or {})


def asks(policy: Any, of: ReviewContext | None = None) -> bool:
    return verdict_of(policy, "Send.", of or context()).ask


def test_always_and_never_do_what_they_say() -> None:
    assert (asks(AlwaysAskPolicy()), asks(NeverAskPolicy())) == (True, False)


def test_once_asks_until_the_thread_knows_the_call_with_these_arguments() -> None:
    key = confirmation_key("send", {"to": "a"})
    other = confirmation_key("send", {"to": "b"})

    assert asks(AskOncePolicy(), context({other: 9e9}))
    assert not asks(AskOncePolicy(), context({key: 0.0}))


def test_once_asks_again_when_the_confirmation_is_too_old() -> None:
    key = confirmation_key("send", {"to": "a"})
    assert asks(AskOncePolicy(ttl_s=60), context({key: 0.0}))
    assert not asks(AskOncePolicy(ttl_s=60), context({key: 9e9}))


def test_key_of_a_confirmation_does_not_depend_on_the_order_of_arguments() -> None:
    assert confirmation_key("t", {"a": 1, "b": 2}) == confirmation_key("t", {"b": 2, "a": 1})
    assert confirmation_key("t", {"a": 1}) != confirmation_key("t", {"a": "1"})


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [(0.9, False), (0.5, False), (0.49, True), (None, True), ("0.9", True), (True, True)],
)
def test_confidence_asks_where_the_model_is_not_sure(confidence: Any, expected: bool) -> None:
    assert asks(ConfidencePolicy(below=0.5), context(confidence=confidence)) is expected


def test_confidence_that_is_no_number_asks() -> None:
    assert asks(ConfidencePolicy(), context(confidence=float("nan")))


@pytest.mark.parametrize("below", [0, -1, 1.5])
def test_confidence_takes_a_share(below: float) -> None:
    with pytest.raises(ConfigurationError, match=str(below)):
        ConfidencePolicy(below=below)


def test_predicate_sees_the_request() -> None:
    policy = PredicatePolicy(lambda request: request.tool_call["args"]["to"] == "b")
    assert not asks(policy)


def test_policy_of_three_arguments_is_asked_by_their_names() -> None:
    class Mine:
        def should_ask(self, tool_name: str, tool_description: str, tool_params: Any) -> bool:
            return (tool_name, tool_description, tool_params) == ("send", "Send.", {"to": "a"})

    assert asks(Mine())


@pytest.mark.parametrize("answer", [KeyError("x"), None])
def test_policy_that_fails_asks_and_the_reason_is_kept(answer: Any) -> None:
    class Broken:
        def should_ask(self, **_: Any) -> Any:
            if answer is not None:
                raise answer

    verdict = verdict_of(cast("Any", Broken()), "", context())
    assert verdict.ask
    assert verdict.problem
    assert verdict != Verdict(ask=True)
