"""Asking a classifier whether a text may pass, so that every failure means no."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from langgraph.errors import GraphBubbleUp

from ..state.errors import ConfigurationError
from ..tools.calls import Dual
from .flows import Ask, Flow

_PASS = frozenset({"allow", "allowed", "benign", "clean", "no", "none", "ok", "pass", "safe"})
_FLAG = frozenset({"block", "blocked", "deny", "flag", "flagged", "harmful", "unsafe", "yes"})
_FLAG_KEYS = ("flagged", "unsafe", "blocked", "is_injection", "injection", "harmful")
_REASON_KEYS = ("reason", "explanation", "category", "label")


@dataclass(frozen=True)
class Verdict:
    """What a classifier says of a text."""

    flagged: bool
    reason: str = ""
    """Why, in the classifier's words; or that it could not say."""


@dataclass(frozen=True)
class Classifier:
    """A classifier with its time limit."""

    function: Dual
    timeout_s: float | None
    read: Callable[[Any], Any]

    @classmethod
    def of(
        cls,
        classifier: Any,
        *,
        timeout_s: float | None,
        read: Callable[[Any], Any] | None = None,
    ) -> Classifier:
        """Prepare a classifier.

        Args:
            classifier: A function of the text (``def`` or ``async def``), or a runnable such as a
                chat model with a prompt or structured output before it.
            timeout_s: Longest time of an answer in seconds.
            read: Makes the classifier's answer one that :func:`read_answer` knows.

        Raises:
            ConfigurationError: It cannot be asked, or the limit is not positive.
        """
        if timeout_s is not None and timeout_s <= 0:
            msg = f"timeout_s is {timeout_s!r}; it must be positive."
            raise ConfigurationError(msg)
        name = getattr(classifier, "__name__", type(classifier).__name__)
        if isinstance(classifier, Runnable):
            runnable = cast("Runnable[Any, Any]", classifier)
            function = Dual(name, runnable.invoke, runnable.ainvoke)
        elif callable(classifier):
            function = Dual.of(classifier, name)
        else:
            msg = f"classifier is {classifier!r}; give a function of the text or a runnable."
            raise ConfigurationError(msg)
        return cls(function, timeout_s, read or (lambda answer: answer))

    def verdict(self, text: str) -> Flow[Verdict]:
        """The verdict on a text; one that cannot be had flags it."""
        try:
            answer: Any = yield Ask(self.function, (text,), self.timeout_s)
            return read_answer(self.read(answer))
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - what cannot be checked may not pass
            return Verdict(flagged=True, reason=f"it could not be checked ({type(error).__name__})")


def read_answer(answer: Any) -> Verdict:
    """A classifier's answer in any usual notation.

    A bool says whether the text is flagged. A text or message begins with a word such as ``safe``
    or ``unsafe``, the rest is the reason. A mapping or object has ``flagged`` (or a key like it),
    and may have ``reason`` or ``categories``; OpenAI's ``{"results": [...]}`` is read too.
    Anything else flags the text.
    """
    if isinstance(answer, Verdict):
        return answer
    if isinstance(answer, bool):
        return Verdict(answer, "flagged" if answer else "")
    if isinstance(answer, BaseMessage):
        return _from_words(answer.text)
    if isinstance(answer, str):
        return _from_words(answer)
    return _from_fields(answer)


def _from_words(text: str) -> Verdict:
    first, _, rest = text.strip().partition("\n") if "\n" in text.strip() else (text, "", "")
    word, _, more = first.strip().partition(" ")
    word = word.strip(".,:;!*\"'`").lower()
    if word in _PASS:
        return Verdict(flagged=False)
    reason = " ".join(part for part in (more.strip(), rest.strip()) if part) or word
    if word in _FLAG:
        return Verdict(flagged=True, reason=reason[:200])
    return Verdict(flagged=True, reason="the classifier gave no verdict")


def _from_fields(answer: Any) -> Verdict:
    results = _field(answer, "results")
    if isinstance(results, Sequence) and not isinstance(results, str) and results:
        found = [read_answer(item) for item in cast("Sequence[Any]", results)]
        return next((v for v in found if v.flagged), found[0])
    for key in _FLAG_KEYS:
        flag = _field(answer, key)
        if isinstance(flag, bool):
            return Verdict(flag, _reason(answer) if flag else "")
    return Verdict(flagged=True, reason="the classifier gave no verdict")


def _reason(answer: Any) -> str:
    for key in _REASON_KEYS:
        if isinstance(said := _field(answer, key), str) and said:
            return said[:200]
    categories = _field(answer, "categories")
    if hasattr(categories, "model_dump"):
        categories = categories.model_dump()
    if isinstance(categories, Mapping):
        named = [str(k) for k, v in cast("Mapping[Any, Any]", categories).items() if v is True]
        return ", ".join(named)[:200] or "flagged"
    if isinstance(categories, Sequence) and not isinstance(categories, str):
        return ", ".join(map(str, cast("Sequence[Any]", categories)))[:200] or "flagged"
    return "flagged"


def _field(answer: Any, key: str) -> Any:
    if isinstance(answer, Mapping):
        return cast("Mapping[str, Any]", answer).get(key)
    return getattr(answer, key, None)
