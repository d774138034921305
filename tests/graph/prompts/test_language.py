"""The template language reaches nothing, and cannot run away."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.graph.prompts import PromptTemplate, filters, language, meter
from interlock.state import ConfigurationError, InvalidInputError

BUILTINS = "__globals__.__builtins__.__import__('os').environ"
ESCAPES = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ ''['__class__'] }}",
    "{{ text['_' ~ '_class_' ~ '_'] }}",
    "{{ text|attr('__class__') }}",
    "{{ [text]|map('attr', '__class__')|list }}",
    "{{ [text]|map(attribute='__class__')|list }}",
    "{{ [text]|selectattr('__class__')|list }}",
    "{{ [text]|groupby('__class__') }}",
    "{{ [text]|sort(attribute='__class__') }}",
    "{{ items.append(1) }}",
    "{{ items.copy() }}",
    "{{ function() }}",
    f"{{{{ function.{BUILTINS} }}}}",
    f"{{{{ self.__init__.{BUILTINS} }}}}",
    f"{{{{ cycler.__init__.{BUILTINS} }}}}",
    f"{{{{ lipsum.{BUILTINS} }}}}",
    f"{{% for x in items %}}{{{{ loop.__init__.{BUILTINS} }}}}{{% endfor %}}",
    f"{{% macro m() %}}{{% endmacro %}}{{{{ m.__init__.{BUILTINS} }}}}",
    f"{{{{ nothing.__init__.{BUILTINS} }}}}",
    "{{ '{0.__class__}'.format(text) }}",
    "{{ '{0.__class__}'.format_map }}{{ '{x}'.format_map({'x': 1}) }}",
    "{{ '%s' % text }}",
    "{{ ('{0.__class__}'|string).format(text) }}",
    "{% set f = '{0.__class__}'.format %}{{ f(text) }}",
    "{{ generator.gi_frame.f_globals }}",
    "{{ dict(a=1) }}",
    "{{ namespace() }}",
    "{{ text|_rounds(1) }}",
    "{{ text|_weighed }}",
    "{{ text|_looked_at }}",
    '{% message role="user" %}{{ environment.filters.clear() }}{% endmessage %}',
]
ROUNDS = "{% set text = 'a' * 200000 %}{% for x in [1] * 2000 %}"
TWICE = "{% set a, b = (1,), (1,) %}" + "{% set a, b = (a, a), (b, b) %}" * 60
"""Two values that are equal, which takes 2 ** 60 looks to see."""

ENDLESS = [
    "{{ 'a' * 10 ** 9 }}",
    "{{ [1] * 10 ** 9 }}",
    "{{ 9 ** 999999 }}",
    "{{ 'x'.center(10 ** 9) }}",
    "{{ 'x'|batch(10 ** 9, 'y')|list }}",
    "{{ 'x'|slice(10 ** 9)|list }}",
    "{{ 'x'|indent(10 ** 9) }}",
    "{{ 1.5|round(10 ** 9, 'ceil') }}",
    "{{ ('a' * 99999)|replace('a', 'b' * 99999) }}",
    "{{ ('a' * 99999)|list|join('b' * 99999) }}",
    "{{ [[1]]|sum(start=[]) }}",
    "{% for x in [1, 2, 3, 4, 5, 6, 7, 8, 9, 0] %}" * 9 + "{% endfor %}" * 9,
    "{% set a = 'xxxxxxxx' %}" + "{% set a = a ~ a %}" * 60,
    "{% set a = 'xxxxxxxx' %}" + "{% set a = a + a %}" * 60,
    "{% set a = 99999999 %}" + "{% set a = a * a %}" * 60,
    "{% set a = 'xxxxxxxx' %}" + "{% set a %}{{ a }}{{ a }}{% endset %}" * 60,
    "{% set a = [1] %}" + "{% set a = [a, a] %}" * 60 + "{{ a }}",
    "{% set a = [1] %}" + "{% set a = [a, a] %}" * 60 + "{{ a|tojson }}",
    "{% set a = {1: 1} %}" + "{% set a = {1: a, 2: a} %}" * 60 + "{{ a|string }}",
    "{% macro m(n) %}{% if n < 60 %}{{ m(n + 1) }}{{ m(n + 1) }}{% endif %}{% endmacro %}{{ m(0) }}",
    "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "{% for x in [1, 2] recursive %}{% if loop.depth < 40 %}{{ loop([1, 2]) }}{% endif %}{% endfor %}",
    "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "{{ " + "-" * 5000 + "1 }}",
    "{{ " + "9" * 5000 + " }}",
    "{% if 1 %}" * 500 + "{% endif %}" * 500,
    "{{ [[[1]]]|tojson(indent=10 ** 9) }}",
    f"{ROUNDS}{{{{ text.count('ab') }}}}{{% endfor %}}",
    f"{ROUNDS}{{{{ 'ab' in text }}}}{{% endfor %}}",
    f"{ROUNDS}{{{{ text is lower }}}}{{% endfor %}}",
    f"{ROUNDS}{{% set part = text[1:] %}}{{% endfor %}}",
    "{{ ([1] * 9999)|select('in', [2] * 9999)|list }}",
    f"{TWICE}{{{{ a == b }}}}",
    f"{TWICE}{{{{ a is eq(b) }}}}",
    f"{TWICE}{{{{ {{a: 1}} }}}}",
    f"{TWICE}{{{{ {{1: 1}}[a] }}}}",
    f"{TWICE}{{{{ {{1: 1}}.get(a) }}}}",
    f"{TWICE}{{% for x in [1, 2] %}}{{{{ loop.changed(a) }}}}{{% endfor %}}",
]


def render(source: str) -> Any:
    values = {
        "text": "text",
        "items": [1],
        "function": print,
        "generator": (n for n in [1]),
        "environment": "none",
    }
    return PromptTemplate(source, "user").render(values).content


@pytest.mark.parametrize("source", ESCAPES)
def test_nothing_of_python_is_within_reach(source: str) -> None:
    with pytest.raises((ConfigurationError, InvalidInputError)):
        render(source)


@pytest.mark.parametrize("source", ENDLESS, ids=range(len(ENDLESS)))
def test_a_template_cannot_run_away(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (meter, filters):
        monkeypatch.setattr(module, "MAX_WORK", 500_000)
    with pytest.raises((ConfigurationError, InvalidInputError)):
        render(source)


def test_nothing_runs_while_a_template_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def spy(_context: Any, value: Any) -> Any:
        ran.append(value)
        return value

    spy.jinja_pass_arg = language.charged_filters()["upper"].jinja_pass_arg  # type: ignore[attr-defined]
    environment = language.PromptEnvironment()
    monkeypatch.setitem(environment.filters, "upper", spy)
    template = environment.make(environment.read("{{ 'a'|upper }}{{ 2 ** 3 }}{{ 'a'.upper() }}"))
    assert ran == []
    assert template.render() == "a8A"
    assert ran == ["a"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ text|upper|replace('T', 't') }}", "tEXt"),
        ("{{ text.split('x')|join('-') }}", "te-t"),
        ("{% for i in items %}{{ loop.index }}/{{ loop.length }}{% endfor %}", "1/1"),
        ("{% for x in [1, 2] %}{{ x }}{{ ', ' if not loop.last }}{% endfor %}", "1, 2"),
        ("{{ [3, 1, 2]|sort|map('string')|join }}", "123"),
        ("{{ [1, 2, 3]|select('odd')|sum }}", "4"),
        ("{{ {'a': {'b': 1}}.a.b }}{{ {'a': 1}.get('c', 2) }}", "12"),
        ("{{ {'b': 1, 'a': 2}|dictsort }}", "[('a', 2), ('b', 1)]"),
        ("{{ {'k': 'v'}|tojson }}", '{"k": "v"}'),
        ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(1) }}{{ m(2) }}", "<1><2>"),
        (
            "{% for x in [[1], [2]] recursive %}{{ loop(x) if x is iterable else x }}{% endfor %}",
            "12",
        ),
        ("{{ 7 // 2 }}{{ 7 % 4 }}{{ 2 ** 5 }}{{ 'a' ~ 1 }}{{ 'a' * 3 }}", "3332a1aaa"),
        ("{{ 2.345|round(1) }}{{ 'a b c'|wordcount }}", "2.33"),
        ("{{ 'a\nb'|indent(2) }}", "a\n  b"),
        (
            "{{ [1, 2, 3]|batch(2)|list }}{{ [1, 2, 3]|slice(2)|list }}",
            "[[1, 2], [3]][[1, 2], [3]]",
        ),
    ],
)
def test_what_prompts_need_works(source: str, text: str) -> None:
    assert render(source) == text


def test_many_names_can_be_looked_for_in_a_long_list() -> None:
    source = "{% for name in names %}{% if name in names %}x{% endif %}{% endfor %}"
    names = [f"{n:036}" for n in range(1_000)]
    assert PromptTemplate(source, "user").render({"names": names}).content == "x" * 1_000


def test_a_long_document_fits() -> None:
    documents = [{"content": "word " * 20_000} for _ in range(20)]
    source = "{% for d in documents %}{{ d.content }}{% endfor %}"
    assert len(PromptTemplate(source, "user").render({"documents": documents}).content) == 2_000_000
