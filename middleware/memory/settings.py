"""What a run says about its memories: ids and criteria, read from its context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from langgraph.runtime import Runtime

from ...state.errors import InvalidInputError
from .scope import SCOPE_KEYS

CONTEXT_KEY = "memory_store_kwargs"

_KEYS = (*SCOPE_KEYS, "search_criteria")


def settings_of(runtime: Runtime[Any]) -> Mapping[str, Any]:
    """What a run says about its memories, in its context.

    Taken from the context's ``memory_store_kwargs``, if there are any, else from its own keys or
    attributes ``user_id``, ``agent_id``, ``run_id`` and ``search_criteria``.
    """
    context = runtime.context
    given = _entry(context, CONTEXT_KEY)
    if given is None:
        found = {key: _entry(context, key) for key in _KEYS}
        return {key: value for key, value in found.items() if value is not None}
    if not isinstance(given, Mapping):
        msg = f"{CONTEXT_KEY} is {given!r}; give a dict such as {{'user_id': 'ann'}}."
        raise InvalidInputError(msg, key=CONTEXT_KEY)
    settings = cast("Mapping[str, Any]", given)
    for key in settings.keys() - set(_KEYS):
        msg = f"{CONTEXT_KEY} has no key {key!r}; its keys are {', '.join(_KEYS)}."
        raise InvalidInputError(msg, key=str(key))
    return settings


def _entry(context: Any, name: str) -> Any:
    if isinstance(context, Mapping):
        return cast("Mapping[str, Any]", context).get(name)
    return getattr(context, name, None)
