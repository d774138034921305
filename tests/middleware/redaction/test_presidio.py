from __future__ import annotations

import importlib
import socket
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import DetectorError, PIIMiddleware
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


def test_missing_presidio_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    with pytest.raises(MissingExtraError, match=r"interlock\[presidio\]"):
        presidio_detector()


@pytest.fixture(scope="module")
def analyzer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Presidio's own engine with its patterns and a language without a model: no download."""
    pytest.importorskip("presidio_analyzer")
    spacy: Any = importlib.import_module("spacy")
    presidio: Any = importlib.import_module("presidio_analyzer")
    engines: Any = importlib.import_module("presidio_analyzer.nlp_engine")
    model = tmp_path_factory.mktemp("model") / "en_blank"
    spacy.blank("en").to_disk(model)
    language = {"lang_code": "en", "model_name": str(model)}
    settings = {"nlp_engine_name": "spacy", "models": [language]}
    nlp = engines.NlpEngineProvider(nlp_configuration=settings).create_engine()
    return presidio.AnalyzerEngine(nlp_engine=nlp, supported_languages=["en"])


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    asked: list[Any] = []

    def refuse(*address: Any, **_: Any) -> Any:
        asked.append(address)
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return asked


@pytest.mark.slow
def test_presidio_itself_finds_and_asks_nobody(analyzer: Any, no_network: list[Any]) -> None:
    detector = presidio_detector(["EMAIL_ADDRESS", "CREDIT_CARD"], analyzer=analyzer)
    rule = RedactionRule("presidio", detector=detector).resolve()

    new = rule.redact("write to kim@example.com or pay with 4111 1111 1111 1111 at 5")

    assert new == "write to [REDACTED_EMAIL_ADDRESS] or pay with [REDACTED_CREDIT_CARD] at 5"
    assert no_network == []


@pytest.mark.slow
def test_what_presidio_is_not_sure_of_stays(analyzer: Any) -> None:
    text = "call 212-555-0123"
    unsure = presidio_detector(["PHONE_NUMBER"], analyzer=analyzer, min_score=0.3)

    assert [m["type"] for m in unsure(text)] == ["phone_number"]
    assert presidio_detector(["PHONE_NUMBER"], analyzer=analyzer)(text) == []


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_an_agent_is_guarded_by_presidio(analyzer: Any, asynchronous: bool) -> None:
    guard = PIIMiddleware("person", detector=presidio_detector(analyzer=analyzer))
    agent = create_agent(ScriptedChatModel(["done"]), middleware=[guard])
    value = {"messages": "I am kim@example.com"}

    result = await agent.ainvoke(value) if asynchronous else agent.invoke(value)

    assert result["messages"][0].text == "I am [REDACTED_EMAIL_ADDRESS]"


@pytest.mark.slow
def test_presidio_that_fails_lets_nothing_pass(analyzer: Any) -> None:
    detector = presidio_detector(analyzer=analyzer, language="xx")
    with pytest.raises(DetectorError):
        RedactionRule("person", detector=detector).resolve().redact("I am Kim")
