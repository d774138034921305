from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest

from interlock.middleware.redaction import RedactionRule, presidio_detector
from interlock.state.errors import ConfigurationError, MissingExtraError


@dataclass
class Result:
    entity_type: str
    start: int
    end: int
    score: float


class Analyzer:
    """Finds the name Kim, as an analyzer of Presidio's shape."""

    def analyze(self, *, text: str, language: str, entities: Any) -> list[Result]:
        assert (language, entities) == ("de", ["PERSON"])
        at = text.index("Kim")
        return [Result("PERSON", at, at + 3, 0.85), Result("PERSON", 0, 2, 0.1)]


def test_results_with_enough_confidence_are_matches() -> None:
    detector = presidio_detector(["PERSON"], language="de", analyzer=Analyzer())
    rule = RedactionRule("name", detector=detector).resolve()

    assert rule.redact("I am Kim Lee") == "I am [REDACTED_PERSON] Lee"


def test_confidence_outside_its_range_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="min_score is 5"):
        presidio_detector(min_score=5, analyzer=Analyzer())


@pytest.mark.skipif(find_spec("presidio_analyzer") is not None, reason="presidio is installed")
def test_missing_presidio_is_named_with_its_extra() -> None:
    with pytest.raises(MissingExtraError, match=r"interlock\[presidio\]"):
        presidio_detector()
