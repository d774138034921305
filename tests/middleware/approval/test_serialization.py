"""Strategies as plain data, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlock.middleware import (
    AlwaysAskPolicy,
    ApprovalMiddleware,
    AskOncePolicy,
    BreakpointConfirmationStrategy,
    CallbackUI,
    ConfidencePolicy,
    HumanInTheLoopStrategy,
    PredicatePolicy,
    SimpleConsoleUI,
)
from interlock.middleware.approval.serialization import from_plain, plain_key, to_plain, tool_key
from interlock.state import ConfigurationError


@pytest.mark.parametrize("policy", [AskOncePolicy(ttl_s=5.0), ConfidencePolicy(below=0.7)])
def test_policies_come_back_equal(policy: Any) -> None:
    assert from_plain(json.loads(json.dumps(to_plain(policy)))) == policy


def test_middleware_comes_back_with_keys_strategies_and_templates() -> None:
    strategy = HumanInTheLoopStrategy(confirmation_ui=SimpleConsoleUI(), reject_template="No.")
    review = ApprovalMiddleware(
        {"a": strategy, ("b", "c"): BreakpointConfirmationStrategy("snapshots")},
        rewrite_edits=True,
    )
    plain = json.loads(json.dumps(review.to_dict()))
    again = ApprovalMiddleware.from_dict(plain)

    assert again.to_dict() == plain
    assert set(again.confirmation_strategies) == {"a", ("b", "c")}
    assert again.confirmation_strategies["a"].wording.reject_template == "No."
    assert isinstance(again.confirmation_strategies["a"].confirmation_ui, SimpleConsoleUI)


def test_long_class_names_of_haystack_are_understood() -> None:
    long: dict[str, Any] = {
        "type": "haystack.hooks.human_in_the_loop.policies.AlwaysAskPolicy",
        "init_parameters": {},
    }
    assert isinstance(from_plain(long), AlwaysAskPolicy)


class Mine:
    def should_ask(self, tool_name: str, tool_description: str, tool_params: Any) -> bool:
        return bool(tool_name or tool_description or tool_params)


def test_own_classes_come_from_a_registry_only() -> None:
    strategy = HumanInTheLoopStrategy(confirmation_policy=Mine())
    with pytest.raises(ConfigurationError, match="'Mine' is not known"):
        HumanInTheLoopStrategy.from_dict(strategy.to_dict())
    again = HumanInTheLoopStrategy.from_dict(strategy.to_dict(), {"Mine": Mine})
    assert isinstance(again.confirmation_policy, Mine)


class Holding(Mine):
    def __init__(self) -> None:
        self.held = object()


@pytest.mark.parametrize("value", [PredicatePolicy(bool), CallbackUI(print), Holding()])
def test_what_is_no_data_is_not_written_down(value: Any) -> None:
    with pytest.raises(ConfigurationError, match=type(value).__name__):
        to_plain(value)


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"type": "os.system", "init_parameters": {}},
        {"type": "AlwaysAskPolicy", "init_parameters": {"x": 1}},
        {"type": "AlwaysAskPolicy"},
    ],
    ids=str,
)
def test_wrong_data_is_refused(data: Any) -> None:
    with pytest.raises(ConfigurationError):
        from_plain(data)


@pytest.mark.parametrize("key", ["send", "*", ("a", "b")])
def test_keys_come_back(key: Any) -> None:
    assert tool_key(plain_key(key)) == key


def test_broken_key_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"\[a"):
        tool_key("[a")
