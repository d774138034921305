"""What a hook function asks for: the live state, or a mapping of values."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from ..state.errors import ConfigurationError
from ..state.state import State

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def asks_for_state(function: Callable[..., Any]) -> bool:
    """Whether a parameter is annotated ``State``, also as ``State | None``.

    A name that cannot be resolved says nothing: programs have states of their own.
    """
    return any(map(_is_state, _annotations(function).values()))


def check_takes_state(function: Callable[..., Any], name: str) -> None:
    """Refuse a function that cannot be given the live state.

    Raises:
        ConfigurationError: It takes nothing, or it is annotated and none of it is ``State``.
    """
    annotations = _annotations(function)
    if not annotations:
        msg = f"Hook {name!r} takes no state; write it as def {name}(state: State)."
        raise ConfigurationError(msg)
    first, annotation = next(iter(annotations.items()))
    unsaid = annotation in (Parameter.empty, Any) or _names_state(annotation)
    if not unsaid and not asks_for_state(function):
        msg = (
            f"Hook {name!r} takes {first!r} as {_shown(annotation)}, but @hook gives it the "
            f"live state; annotate it as State, or leave the decorator out to be given a dict."
        )
        raise ConfigurationError(msg)


def hint_at_state(owner: str, error: AttributeError) -> None:
    """Say how a hook gets the live state, where it took the dict that it was given for one."""
    state: Any = error.obj
    if type(state) is not dict or "messages" not in state or not hasattr(State, error.name or ""):
        return
    error.add_note(
        f"{owner} was given the state as a dict; annotate its parameter as State, or use @hook, "
        f"to have {error.name!r}."
    )


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    """Annotations of the positional parameters; those that cannot be resolved as they stand."""
    parameters = {n: p for n, p in signature(function).parameters.items() if p.kind in _POSITIONAL}
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError):
        hints = {}
    return {name: hints.get(name, p.annotation) for name, p in parameters.items()}


def _is_state(annotation: Any) -> bool:
    if get_origin(annotation) in (Annotated, Union) or type(annotation).__name__ == "UnionType":
        return any(map(_is_state, get_args(annotation)))
    return isinstance(annotation, type) and issubclass(annotation, State)


def _names_state(annotation: Any) -> bool:
    """Whether an annotation that could not be resolved speaks of a state."""
    parts = annotation.split("|") if isinstance(annotation, str) else []
    return "State" in {part.strip().rsplit(".", 1)[-1] for part in parts}


def _shown(annotation: Any) -> str:
    return repr(getattr(annotation, "__name__", annotation))
