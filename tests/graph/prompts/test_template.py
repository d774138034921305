"""One prompt: what it reads, and the one message it comes to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage, SystemMessage

from interlock.graph.prompts import PromptTemplate
from interlock.state import ConfigurationError, InvalidInputError

TRANSLATE = "Translate {{ text }} into {{ language }}."
BLOCK = '{% message role="user" %}\nHello {{ name }}\n{% endmessage %}'


def user(source: str, **values: Any) -> Any:
    return PromptTemplate(source, "user").render(values)


def test_bare_text_is_the_content_of_one_message() -> None:
    assert user(TRANSLATE, text="tea", language="French") == HumanMessage(
        "Translate tea into French."
    )


def test_a_system_prompt_comes_to_a_system_message() -> None:
    assert PromptTemplate("Speak {{ language }}", "system").render({"language": "Welsh"}) == (
        SystemMessage("Speak Welsh")
    )


def test_a_block_is_one_message_without_the_space_around_it() -> None:
    assert user(BLOCK, name="Ada") == HumanMessage("Hello Ada")


def test_a_block_keeps_name_and_meta() -> None:
    source = '{% message role="user" name=who meta={"source": "form"} %}Hi{% endmessage %}'
    message = user(source, who="ada")
    assert (message.name, message.additional_kwargs) == ("ada", {"source": "form"})


def test_variables_are_found_in_text_loops_conditions_and_options() -> None:
    source = (
        "{% message role=role name=who %}{% for d in docs if d.ok %}{{ d.text|default(other) }}"
        "{% endfor %}{% if flag %}{% set local = 1 %}{{ local }}{% endif %}{% endmessage %}"
    )
    assert PromptTemplate(source, "user").variables == {"role", "who", "docs", "other", "flag"}


def test_a_value_that_is_set_from_itself_is_a_variable() -> None:
    template = PromptTemplate("{% set a = a|default('b') %}{{ a }}", "user")
    assert template.variables == {"a"}
    assert template.render({}).content == "b"


def test_a_variable_without_a_value_writes_nothing() -> None:
    assert user("[{{ a }}{{ b.c.d }}{% for x in e %}x{% endfor %}]").content == "[]"


def test_none_writes_nothing() -> None:
    assert user("[{{ a }}]", a=None).content == "[]"


def test_single_braces_are_text() -> None:
    template = PromptTemplate('Answer as {"city": ...}', "system")
    assert template.is_plain
    assert template.render({}).content == 'Answer as {"city": ...}'


@given(text=st.text())
@settings(max_examples=50)
def test_a_value_is_never_read_as_a_template(text: str) -> None:
    assert user("<{{ text }}>", text=text).content == f"<{text}>"


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("{{ name", "line 1"),
        ("{% for %}", "line 1"),
        ("{{ a|no_such_filter }}", "no_such_filter"),
        (BLOCK + BLOCK, "2 message blocks"),
        ('{% message role="system" %}x{% endmessage %}', "'system'"),
        ('{% message role="assistant" %}x{% endmessage %}', "'assistant'"),
        ("{% message %}x{% endmessage %}", "role"),
        ('{% message role="user" color="red" %}x{% endmessage %}', "'color'"),
        ('before {% message role="user" %}x{% endmessage %}', "outside"),
        ("{% for i in range(3) %}x{% endfor %}", "'range'"),
        ("{% include 'other' %}", "include"),
        ("{% extends 'other' %}", "extends"),
        ("{% import 'other' as o %}", "import"),
        ("x" * 200_001, "200001"),
    ],
)
def test_a_wrong_template_is_refused_when_it_is_read(source: str, word: str) -> None:
    with pytest.raises(ConfigurationError, match="user_prompt") as caught:
        PromptTemplate(source, "user")
    assert word in str(caught.value)


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("{% message role=role %}x{% endmessage %}", "role 'tool'"),
        ('{% if gone %}{% message role="user" %}x{% endmessage %}{% endif %}', "0 messages"),
        (
            '{% for i in [1, 2] %}{% message role="user" %}x{% endmessage %}{% endfor %}',
            "2 messages",
        ),
        ('{{ role }}{% message role="user" %}x{% endmessage %}', "outside"),
        ('{% message role="user" meta="m" %}x{% endmessage %}', "meta"),
        ("{{ 1 / 0 }}", "division"),
        ("{{ role + 1 }}", "user_prompt"),
    ],
)
def test_what_is_no_message_of_its_role_is_refused_when_it_is_rendered(
    source: str, word: str
) -> None:
    template = PromptTemplate(source, "user")
    with pytest.raises(InvalidInputError, match="user_prompt") as caught:
        template.render({"role": "tool"})
    assert word in str(caught.value)


def test_a_failing_value_of_the_caller_is_a_clear_error() -> None:
    class Broken:
        @property
        def text(self) -> str:
            msg = "no text today"
            raise OSError(msg)

    with pytest.raises(InvalidInputError, match="no text today"):
        user("{{ d.text }}", d=Broken())
