"""The name that somebody may have meant, for the end of an error message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``" Did you mean 'x'?"`` for the closest known name, or nothing."""
    close = get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def refuse_unknown(
    owner: str, given: Iterable[str], known: Iterable[str], elsewhere: Mapping[str, str]
) -> None:
    """Refuse names that are no settings.

    Args:
        owner: Whose settings they would be.
        given: The names.
        known: All settings.
        elsewhere: What settings of other libraries are here.

    Raises:
        TypeError: It names the first one, and what may be meant.
    """
    settings = list(known)
    for name in given:
        if name not in settings:
            here = elsewhere.get(name)
            hint = f" Here it is {here}." if here else did_you_mean(name, settings)
            msg = f"{owner} has no setting {name!r}.{hint}"
            raise TypeError(msg)
