"""What a model is told when a call fails: the tool, the argument, the rule, and no secret.

An error text names no file, shows no traceback and repeats no injected value; anything that looks
like a key is blanked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

MAX_LENGTH = 2_000
"""Characters of an exception's text that a model gets to read."""

_SHORTEST_SECRET = 6
"""Injected values shorter than this are ordinary words and stay."""

_KEYS = re.compile(
    r"(?i)\b(?:sk|pk|rk|ghp|gho|xox[abp]|AKIA|AIza)[-_A-Za-z0-9]{12,}"
    r"|\b(?:bearer|basic)\s+[-_.~+/=A-Za-z0-9]{8,}"
    r"|\b(?:api[-_]?key|token|secret|password)\s*[=:]\s*[^\s,;]{4,}"
)
_PATHS = re.compile(r"(?:(?<=[\s'\"(])|^)(?:/[\w.@-]+){2,}/?|\b[A-Za-z]:\\[^\s'\"]+")


def failure_text(tool_name: str, error: BaseException, secrets: Iterable[str] = ()) -> str:
    """What the model reads of an exception that a tool raised."""
    text = scrub(str(error), secrets)
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"Tool {tool_name!r} failed: {what}"


def invalid_arguments_text(
    tool_name: str, args: Mapping[str, Any], error: ValidationError, hidden: Iterable[str] = ()
) -> str:
    """What the model reads when its arguments do not fit: each argument and what it must be."""
    hidden_names = set(hidden)
    lines = [
        f"- {'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}"
        for e in error.errors(include_url=False, include_context=False, include_input=False)
        if not (e["loc"] and e["loc"][0] in hidden_names)
    ]
    shown = scrub(repr({k: v for k, v in args.items() if k not in hidden_names}))
    rules = "\n".join(lines)
    return (
        f"The call of {tool_name!r} with the arguments {shown} was refused with error:\n{rules}\n"
        "Correct the arguments and call again."
    )


def unknown_tool_text(tool_name: str, known: Iterable[str]) -> str:
    """What the model reads when it calls a tool that does not exist."""
    names = ", ".join(known) or "none"
    return f"There is no tool {tool_name[:64]!r}. The available tools are: {names}."


def scrub(text: str, secrets: Iterable[str] = ()) -> str:
    """``text`` without the given secrets, keys and file paths, and not too long."""
    text = text[: MAX_LENGTH * 4]
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "[hidden]")
    text = _PATHS.sub("[path]", _KEYS.sub("[hidden]", text))
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}…"


def strings_in(value: Any, depth: int = 3) -> Iterable[str]:
    """The texts inside an injected value, to be kept out of an error text."""
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, Mapping):
        for item in value.values():  # pyright: ignore[reportUnknownVariableType]
            yield from strings_in(item, depth - 1)
    elif depth and isinstance(value, (list, tuple, set)):
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            yield from strings_in(item, depth - 1)
