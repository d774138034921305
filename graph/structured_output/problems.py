"""What a validator found wrong, in lines that a model can act on.

A line has the place in the answer, the validator's words and the value. It has no class names,
no links and no code: it is sent to the model and may end in a log.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from .json_value import is_list, is_object

MAX_PROBLEMS = 8
"""Problems that are told at once; more of them do not help a model."""

MAX_VALUE_LENGTH = 200
"""Characters of an offending value that are repeated."""

MAX_WORDS_LENGTH = 300
"""Characters of a validator's words that are repeated."""

_UNTYPED_ROOT = "the whole answer"


def shortened(text: str, limit: int = MAX_VALUE_LENGTH) -> str:
    """Give ``text`` itself, or its beginning with a note on how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}... ({len(text) - limit} more characters)"


def value_text(value: object) -> str:
    """Give a value as short JSON, the form in which the model wrote it."""
    try:
        text = json.dumps(to_jsonable_python(value), ensure_ascii=False)
    except (PydanticSerializationError, TypeError, ValueError, RecursionError):
        return f"a value of type {type(value).__name__}"
    return shortened(text.encode("utf-8", "replace").decode())


def path_text(path: Sequence[str | int]) -> str:
    """Give a place in an answer as a reader would write it.

    >>> path_text(["parts", 0, "unit price"])
    'parts[0]["unit price"]'
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier():
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return shortened(text) if text else _UNTYPED_ROOT


def pydantic_problems(
    error: ValidationError, data: object, root: Sequence[str | int] = ()
) -> list[str]:
    """Tell what pydantic found.

    Args:
        error: What the validation raised.
        data: The value that was validated; steps of pydantic's own making, such as the members
            of a union, are not found in it and are left out of the paths.
        root: Where ``data`` lies in the answer.
    """
    lines = [
        problem_line([*root, *_steps_in(data, found["loc"])], found["msg"], found.get("input"))
        for found in error.errors(include_url=False, include_context=False)
    ]
    return limited(lines)


def problem_line(path: Sequence[str | int], words: str, value: object) -> str:
    """Give one problem as a line."""
    return f"{path_text(path)}: {shortened(words, MAX_WORDS_LENGTH)} (got {value_text(value)})"


def limited(lines: list[str]) -> list[str]:
    """Give the first problems, and how many more there are."""
    if len(lines) <= MAX_PROBLEMS:
        return lines
    return [*lines[:MAX_PROBLEMS], f"and {len(lines) - MAX_PROBLEMS} more problems"]


def _steps_in(data: object, location: Sequence[str | int]) -> list[str | int]:
    steps: list[str | int] = []
    here = data
    for position, step in enumerate(location):
        inside_list = is_list(here) and isinstance(step, int) and step < len(here)
        if inside_list or (is_object(here) and step in here):
            here = cast("Any", here)[step]
        elif position < len(location) - 1 or not is_object(here):
            continue
        steps.append(step)
    return steps
