"""The prompts of an agent together: their variables, and which of them a run must give."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import SystemMessage

from interlock.graph.prompts import Prompts
from interlock.state import ConfigurationError, InvalidInputError


def prompts(system: Any = None, user: str | None = None, required: Any = "*") -> Prompts:
    return Prompts.of(system, user, required, templated=True)


def test_a_variable_of_both_prompts_is_one_input() -> None:
    both = prompts("Speak {{ language }}.", "{{ text }} in {{ language }}")
    assert both.variables == ("language", "text")


def test_every_variable_is_required_by_default() -> None:
    with pytest.raises(InvalidInputError, match="need a, c; given were b"):
        prompts("{{ a }}{{ b }}", "{{ c }}").check_given({"b": 1, "messages": []})


def test_none_makes_every_variable_optional() -> None:
    optional = prompts("[{{ a }}]", required=None)
    optional.check_given({})
    rendered = optional.system_for({})
    assert rendered is not None
    assert rendered.content == "[]"


def test_a_list_makes_only_those_required() -> None:
    some = prompts("{{ a }}{{ b }}", required=["b"])
    some.check_given({"b": 1})
    with pytest.raises(InvalidInputError, match="need b; given were none"):
        some.check_given({})


@pytest.mark.parametrize(
    ("required", "word"), [(["langage"], "Did you mean 'language'"), ("all", "'\\*', None")]
)
def test_a_wrong_list_of_required_variables_is_refused(required: Any, word: str) -> None:
    with pytest.raises(ConfigurationError, match=word):
        prompts("{{ language }}", required=required)


def test_a_variable_may_not_be_a_state_key() -> None:
    with pytest.raises(ConfigurationError, match="'docs' has the name of a state key"):
        prompts("{{ docs }}").check_names({"docs"}, {"config"})


def test_a_variable_may_not_be_a_parameter_of_a_run() -> None:
    with pytest.raises(ConfigurationError, match="'config' has the name of a parameter"):
        prompts("{{ config }}").check_names({"docs"}, {"config"})


def test_a_prompt_with_nothing_to_compute_is_one_message_for_all_runs() -> None:
    assert prompts("Be brief.").fixed_system == SystemMessage("Be brief.")
    assert prompts("Be {{ how }}.").fixed_system is None


def test_a_message_is_taken_as_it_is() -> None:
    message = SystemMessage("{{ not_a_variable }}")
    assert prompts(message).fixed_system is message


def test_a_string_is_no_template_where_templates_are_off() -> None:
    plain = Prompts.of("{{ braces }", None, "*", templated=False)
    assert plain.fixed_system == SystemMessage("{{ braces }")
