from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.graph.structured_output import UnreadableAnswerError
from interlock.graph.structured_output.reading import read_json

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
# Text that cannot be taken for JSON or for a fence.
PROSE = st.text(alphabet=st.characters(exclude_characters="{}[]`~<", codec="utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '\ufeff {"a": 1}\n',
        '```json\n{"a": 1}\n```',
        '```\n{"a": 1}```\n',
        '``` {"a": 1} ```',
        '~~~json\r\n{"a": 1}\r\n~~~',
        '<think>maybe {"a": 2}?</think>\n```json\n{"a": 1}\n```',
        '<think>{"a": 2}</think>{"a": 1}',
    ],
)
def test_text_that_is_nothing_but_json_is_read(text: str) -> None:
    assert read_json(text, name="X") == {"a": 1}


def test_fences_inside_strings_stay() -> None:
    assert read_json('{"code": "```py\\nx = 1\\n```"}', name="X") == {"code": "```py\nx = 1\n```"}


@pytest.mark.parametrize(
    "text",
    [
        'Here it is: {"a": 1}. Anything else?',
        'I call f(x) {not json} and [1] then {"a": 1}',
        'Text\n```json\n{"a": 1}\n```\nmore text',
        '```json\n{"a": 1}',
    ],
)
def test_one_value_among_other_text_is_read_where_that_is_allowed(text: str) -> None:
    assert read_json(text, name="X", surrounded=True) == {"a": 1}


def test_value_among_other_text_is_not_read_elsewhere() -> None:
    with pytest.raises(UnreadableAnswerError):
        read_json('For example {"a": 1}.', name="X")


@pytest.mark.parametrize("text", ['{"b": {"a": 1}', '[{"a": 1}', 'In [0, 1): {"a": 1}'])
def test_value_behind_a_bracket_that_stays_open_is_not_read(text: str) -> None:
    with pytest.raises(UnreadableAnswerError, match="not closed"):
        read_json(text, name="X", surrounded=True)


def test_several_values_are_refused() -> None:
    with pytest.raises(UnreadableAnswerError, match="several JSON values"):
        read_json('{"a": 1} or {"a": 2}', name="X", surrounded=True)


def test_list_among_other_text_counts_only_where_it_may_be_the_answer() -> None:
    assert read_json("As in [1]: [2, 3]"[10:], name="X", surrounded=True, bare=True) == [2, 3]
    with pytest.raises(UnreadableAnswerError):
        read_json("It is [2, 3].", name="X", surrounded=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "prose",
        '{"a": 1',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": 1,}',
        "{'a': 1}",
        '"\ud800"',
        "[" * 10_000,
    ],
)
def test_anything_else_is_refused_with_the_reply_and_the_name(text: str) -> None:
    with pytest.raises(UnreadableAnswerError) as caught:
        read_json(text, name="Verdict", surrounded=True)

    assert "Verdict" in str(caught.value)
    assert caught.value.text == text
    assert repr(text)[1:20] in str(caught.value)


def test_huge_exponent_in_a_string_is_no_number() -> None:
    assert read_json('{"sku": "1e999"}', name="X") == {"sku": "1e999"}


@given(JSON)
def test_value_is_read_back_from_its_json(value: Any) -> None:
    assert read_json(json.dumps(value), name="X") == value


@given(st.dictionaries(st.text(), JSON), PROSE, PROSE)
def test_object_is_read_back_from_fences_and_prose(value: Any, before: str, after: str) -> None:
    fenced = f"```json\n{json.dumps(value, indent=1)}\n```"

    assert read_json(fenced, name="X") == value
    assert read_json(f"{before}\n{fenced}\n{after}", name="X", surrounded=True) == value


@given(st.text() | st.text(alphabet='{}[]",:\\`tn1 e\n'), st.booleans(), st.booleans())
def test_garbage_is_a_value_or_unreadable(text: str, surrounded: bool, bare: bool) -> None:
    try:
        json.dumps(read_json(text, name="X", surrounded=surrounded, bare=bare))
    except UnreadableAnswerError as error:
        assert error.text == text  # noqa: PT017 -- most garbage is unreadable, some is not


@pytest.mark.parametrize("piece", ["{", "[1,", '{"a":{}} ', "{}", "```", '"{', "{ ]", "<think>"])
def test_time_grows_with_the_length_and_no_faster(piece: str) -> None:
    started = time.perf_counter()
    with pytest.raises(UnreadableAnswerError):
        read_json("x" + piece * (200_000 // len(piece)), name="X", surrounded=True)

    assert time.perf_counter() - started < 2
