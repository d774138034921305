"""The settings of an extraction: what ``extract`` takes besides model, schema and inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypedDict

from ...middleware.retrying import RetryPolicy
from ...state.errors import ConfigurationError
from .journal import check_files
from .rate_limit import RateLimit
from .record import KeyOf
from .record_flow import INSTRUCTIONS
from .result import Extraction
from .totals import Totals


class ExtractSettings(TypedDict, total=False):
    """Keyword arguments of ``extract`` and ``aextract``; each may be left out."""

    instructions: str | None
    """System prompt; by default one that asks to make nothing up. An empty text sends none."""
    concurrency: int
    """Records that are worked on at a time, 8 by default."""
    ordered: bool
    """Give results in the order of the input, the default, or as soon as they are there."""
    max_retries: int
    """How many times a record is asked about again because its answer does not fit, 2 by default;
    a failed request is made again as often. Of a strategy with bounds of its own, those hold."""
    retry: RetryPolicy | None
    """When a failed request is made again; by default ``max_retries`` times, with longer waits."""
    timeout_s: float | None
    """Seconds that a record may take, waits included; then it is rejected."""
    rate_limit: RateLimit | float | None
    """Limit of the requests, or their number per minute."""
    key: KeyOf | None
    """Where the keys of records come from: a column, or a function of the row; by default their
    position in the input."""
    resume: str | Path | None
    """A file that keeps each result as it comes, and from which a job that was stopped goes on:
    an output of JSON lines (``out.jsonl``), or a job file (``job.sqlite``)."""
    rejects: str | Path | Callable[[Extraction[Any]], object] | None
    """Where rejected records go: a file of JSON lines, or a function. Without it they are among
    the results."""
    on_progress: Callable[[Totals], object] | None
    """Called with the totals whenever a record is done."""


DEFAULTS: ExtractSettings = {
    "instructions": None,
    "concurrency": 8,
    "ordered": True,
    "max_retries": 2,
    "retry": None,
    "timeout_s": None,
    "rate_limit": None,
    "key": None,
    "resume": None,
    "rejects": None,
    "on_progress": None,
}
"""What holds where a setting is left out."""


def checked_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings, those that were not given with their defaults, ready for use.

    Raises:
        TypeError: A name is no setting.
        ConfigurationError: A value is wrong.
    """
    for name in given:
        if name not in DEFAULTS:
            close = get_close_matches(name, DEFAULTS, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"Use one of {', '.join(DEFAULTS)}."
            msg = f"extract has no setting {name!r}. {hint}"
            raise TypeError(msg)
    settings: dict[str, Any] = {**DEFAULTS, **given}
    _check_numbers(settings)
    rejects = settings["rejects"]
    check_files(settings["resume"], None if callable(rejects) else rejects)
    if settings["instructions"] is None:
        settings["instructions"] = INSTRUCTIONS
    if settings["retry"] is None:
        settings["retry"] = RetryPolicy(max_retries=settings["max_retries"])
    limit = settings["rate_limit"]
    if limit is not None and not isinstance(limit, RateLimit):
        settings["rate_limit"] = RateLimit(per_minute=limit)
    return settings


def _check_numbers(settings: Mapping[str, Any]) -> None:
    concurrency, timeout_s = settings["concurrency"], settings["timeout_s"]
    if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
        msg = f"concurrency is {concurrency!r}; give a whole number, at least 1."
        raise ConfigurationError(msg)
    if timeout_s is not None and not (_is_number(timeout_s) and timeout_s > 0):
        msg = f"timeout_s is {timeout_s!r}; give seconds, more than 0, or None."
        raise ConfigurationError(msg)
    limit = settings["rate_limit"]
    if limit is not None and not isinstance(limit, RateLimit) and not _is_number(limit):
        msg = f"rate_limit is {limit!r}; give a number of requests per minute, or a RateLimit."
        raise ConfigurationError(msg)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
