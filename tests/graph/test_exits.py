"""The exit conditions and limits of an agent, as they are checked when it is built."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.graph import create_agent
from interlock.graph.exits import ExitRules, exit_rules
from interlock.graph.models import ScriptedChatModel
from interlock.graph.settings import DEFAULTS
from interlock.middleware import ToolRetryMiddleware
from interlock.state import EXIT_REASONS, ConfigurationError
from interlock.tools import tool
from interlock.tools.definition import collect_tools


@tool
def save_result(text: str) -> str:
    """Save."""
    return text


TOOLS = collect_tools([("the agent", [save_result])])


def rules(*, open_ended: bool = False, **options: Any) -> ExitRules:
    return exit_rules(TOOLS, {**DEFAULTS, **options}, open_ended=open_ended)


def test_a_text_ends_a_run_unless_conditions_are_given() -> None:
    assert (rules().text, rules().tools) == (True, frozenset())
    assert rules(exit_conditions=None) == rules(exit_conditions=["text"]) == rules()


def test_conditions_are_alternatives() -> None:
    made = rules(exit_conditions=["text", "save_result"])
    assert made.text
    assert made.tools == {"save_result"}


def test_text_can_be_left_out() -> None:
    assert rules(exit_conditions=["save_result"]).text is False


def test_a_condition_that_names_no_tool_is_refused_with_a_hint() -> None:
    with pytest.raises(ConfigurationError, match=r"'save_reslt'.*Did you mean 'save_result'\?"):
        rules(exit_conditions=["text", "save_reslt"])


def test_a_condition_may_name_a_tool_that_comes_later_and_is_warned_about() -> None:
    with pytest.warns(UserWarning, match="'later' names no tool"):
        made = rules(exit_conditions=["later"], open_ended=True)
    assert made.tools == {"later"}


def test_layers_around_calls_may_bring_tools() -> None:
    model = ScriptedChatModel(["x"])
    with pytest.warns(UserWarning, match="'later' names no tool"):
        create_agent(
            model, [save_result], middleware=[ToolRetryMiddleware()], exit_conditions=["later"]
        )


@pytest.mark.parametrize("given", ["text", 3, b"save", {"text": True}])
def test_conditions_must_be_a_list(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="exit_conditions is"):
        rules(exit_conditions=given)


@pytest.mark.parametrize("given", [[None], [""], [save_result], [1]])
def test_a_condition_must_be_a_name(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="is no name"):
        rules(exit_conditions=given)


def test_no_condition_at_all_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="empty"):
        rules(exit_conditions=[])


@pytest.mark.parametrize("reason", [r for r in EXIT_REASONS if r != "text"])
def test_an_exit_tool_cannot_pass_for_another_reason(reason: str) -> None:
    with pytest.raises(ConfigurationError, match="rename the tool"):
        rules(exit_conditions=[reason], open_ended=True)


@pytest.mark.parametrize("setting", ["max_agent_steps", "max_tokens_total"])
@pytest.mark.parametrize("value", [0, -1, True, 2.5, "3", [1]])
def test_a_limit_is_a_whole_number_above_zero(setting: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=setting):
        rules(**{setting: value})


def test_the_step_limit_cannot_be_none() -> None:
    with pytest.raises(ConfigurationError, match="max_agent_steps"):
        rules(max_agent_steps=None)
    assert rules(max_tokens_total=None).max_tokens_total is None
    assert rules().max_steps == 100


@pytest.mark.parametrize("value", ["no", 1, None])
def test_final_answer_is_yes_or_no(value: Any) -> None:
    with pytest.raises(ConfigurationError, match="final_answer"):
        rules(final_answer=value)
