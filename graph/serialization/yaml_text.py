"""YAML with nothing but data in it: no tags, no anchors, no keys twice, no endless nesting."""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)

from ...state.errors import ConfigurationError

MAX_CHARS = 200_000
"""Characters of the longest text that is read."""

MAX_VALUES = 20_000
"""Keys, values, lists and mappings in it: PyYAML takes about 0.1 ms for each."""

_RARE_BREAKS = frozenset("\x85\u2028\u2029")

MAX_DEPTH = 60
"""Levels of lists and mappings in it."""

MAX_DIGITS = 1_000
"""Characters of the longest number in it: PyYAML reads one in base 60 in quadratic time."""

_NUMBER = re.compile(r"[-+.:\w]+")


def write_yaml(data: Any) -> str:
    """Plain data as YAML."""
    text = _dump(data, ascii_only=False)
    # PyYAML 6.0 folds rare line breaks in keys into spaces where it does not escape them.
    return _dump(data, ascii_only=True) if _RARE_BREAKS.intersection(text) else text


def _dump(data: Any, *, ascii_only: bool) -> str:
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=not ascii_only, width=100)
    return text


def read_yaml(text: str) -> Any:
    """The data in a YAML text.

    Raises:
        ConfigurationError: The text is no YAML, or holds more than data.
    """
    if len(text) > MAX_CHARS:
        msg = f"The YAML text has {len(text)} characters; {MAX_CHARS} is the limit."
        raise ConfigurationError(msg)
    try:
        _check(text)
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        msg = f"The text is no valid YAML: {' '.join(str(error).split())}"
        raise ConfigurationError(msg) from error
    except (ValueError, RecursionError, OverflowError) as error:
        if isinstance(error, ConfigurationError):
            raise
        msg = f"The YAML text holds a value that cannot be read: {error}"
        raise ConfigurationError(msg) from error


def _check(text: str) -> None:
    """Look at the structure before anything is made of it."""
    open_keys: list[set[str] | None] = []
    expects_key: list[bool] = []
    values = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, NodeEvent):
            _check_node(event)
            values += 1
            if values > MAX_VALUES:
                msg = f"The YAML text has more than {MAX_VALUES} keys and values{_at(event)}."
                raise ConfigurationError(msg)
        is_key = bool(expects_key) and expects_key[-1]
        if isinstance(event, CollectionEndEvent):
            open_keys.pop()
            expects_key.pop()
            continue
        if isinstance(event, (ScalarEvent, CollectionStartEvent)) and expects_key:
            keys = open_keys[-1]
            if keys is not None and is_key and isinstance(event, ScalarEvent):
                _check_key(event, keys)
            expects_key[-1] = keys is not None and not is_key
        if isinstance(event, CollectionStartEvent):
            is_mapping = isinstance(event, MappingStartEvent)
            open_keys.append(set() if is_mapping else None)
            expects_key.append(is_mapping)
            if len(open_keys) > MAX_DEPTH:
                msg = f"The YAML text is nested more than {MAX_DEPTH} levels deep{_at(event)}."
                raise ConfigurationError(msg)


def _check_node(event: NodeEvent) -> None:
    if isinstance(event, AliasEvent) or event.anchor is not None:
        msg = f"The YAML text has an anchor or alias{_at(event)}; write the value out."
        raise ConfigurationError(msg)
    if isinstance(event, ScalarEvent) and event.style is None and _is_long_number(event.value):
        msg = (
            f"The YAML text has a number of {len(event.value)} characters{_at(event)}, which "
            "cannot be read."
        )
        raise ConfigurationError(msg)
    tag = getattr(event, "tag", None)
    if tag is not None:
        msg = f"The YAML text has the tag {tag!r}{_at(event)}; it may hold plain data only."
        raise ConfigurationError(msg)


def _is_long_number(text: str) -> bool:
    begins = text.lstrip("+-.")[:1]
    return len(text) > MAX_DIGITS and begins.isdigit() and _NUMBER.fullmatch(text) is not None


def _check_key(event: ScalarEvent, keys: set[str]) -> None:
    if event.value in keys:
        msg = f"The YAML text has the key {event.value!r} twice{_at(event)}."
        raise ConfigurationError(msg)
    keys.add(event.value)


def _at(event: Event) -> str:
    mark: Any = event.start_mark
    return f" (line {mark.line + 1})" if mark is not None else ""
