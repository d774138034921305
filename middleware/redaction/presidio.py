"""Names, places and other data without a fixed form, found by Microsoft Presidio."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ...state.errors import ConfigurationError, MissingExtraError

_PRESIDIO = "presidio_analyzer"


def presidio_detector(
    entities: Sequence[str] | None = None,
    *,
    language: str = "en",
    min_score: float = 0.5,
    analyzer: Any = None,
) -> Callable[[str], list[Mapping[str, Any]]]:
    """A detector for ``PIIMiddleware(..., detector=...)`` that asks a Presidio analyzer.

    Args:
        entities: Kinds to look for, in Presidio's names such as ``PERSON``; None for all it knows.
        language: Language of the texts, as a two-letter code.
        min_score: Lowest confidence that counts, from 0 to 1.
        analyzer: An ``AnalyzerEngine`` of your own; by default one with Presidio's settings, which
            downloads a language model if it is not there. What an engine without a model finds
            has a fixed form: names need one.

    Raises:
        MissingExtraError: Presidio is not installed.
        ConfigurationError: ``min_score`` is not between 0 and 1.
    """
    if not 0 <= min_score <= 1:
        msg = f"min_score is {min_score!r}; it must be between 0 and 1."
        raise ConfigurationError(msg)
    engine = analyzer if analyzer is not None else _engine()
    _keep_from_asking_around()

    def detect(text: str) -> list[Mapping[str, Any]]:
        results: Iterable[Any] = engine.analyze(
            text=text, language=language, entities=list(entities) if entities else None
        )
        return [
            {"type": str(r.entity_type).lower(), "start": r.start, "end": r.end}
            for r in results
            if r.score >= min_score
        ]

    return detect


def _engine() -> Any:
    try:
        module: Any = importlib.import_module(_PRESIDIO)
    except ImportError as error:
        msg = "Presidio is not installed; install interlock[presidio], or give an analyzer."
        raise MissingExtraError(msg, extra="presidio") from error
    return module.AnalyzerEngine()


def _keep_from_asking_around() -> None:
    """Have Presidio's check of e-mail addresses use the list of domains that came with it.

    tldextract would fetch a newer one from the internet, in the middle of a check.
    """
    with suppress(ImportError, AttributeError):
        importlib.import_module("tldextract.tldextract").TLD_EXTRACTOR.suffix_list_urls = ()
