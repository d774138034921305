"""What ``jsonschema`` found wrong, in the same lines as what pydantic finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import cast

from jsonschema.exceptions import ValidationError as JsonSchemaError
from jsonschema.exceptions import (
    best_match,  # pyright: ignore[reportUnknownVariableType]  # its stub is partly untyped
)

from .problems import (
    MAX_VALUE_LENGTH,
    MAX_WORDS_LENGTH,
    limited,
    path_text,
    problem_line,
    shortened,
)

_MAX_SEEN = 50


def json_schema_problems(
    errors: Iterable[JsonSchemaError], root: Sequence[str | int] = ()
) -> list[str]:
    """Tell what ``jsonschema`` found, sorted by place; reads no more errors than it needs."""
    seen: list[JsonSchemaError] = [
        best_match([error]) or error for error in islice(errors, _MAX_SEEN)
    ]
    seen.sort(key=lambda error: [str(step) for step in error.absolute_path])
    lines: list[str] = []
    for error in seen:
        value = cast("object", error.instance)
        said = repr(value)
        words = error.message
        if len(said) > MAX_VALUE_LENGTH:
            words = words.replace(said, "the value")
        path = [*root, *error.absolute_path]
        if words.startswith(said):
            lines.append(f"{path_text(path)}: {shortened(words, MAX_WORDS_LENGTH)}")
        else:
            lines.append(problem_line(path, words, value))
    return limited(lines)
