"""Models for extraction tests, and one way to run a job whatever the calling style."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from interlock.graph import aextract, extract
from interlock.graph.extraction import Extraction, Totals


class Reader(BaseChatModel):
    """Answers each text by a function, and counts how often it was asked about each."""

    answer: Callable[[str], Any]
    _asked: Counter[str] = PrivateAttr(default_factory=Counter[str])
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    @property
    def asked(self) -> Counter[str]:
        """Requests by text."""
        return self._asked

    @property
    def _llm_type(self) -> str:
        return "reader"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Bind them, unseen."""
        return self.bind(tools=tools, **kwargs)

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        text = next(m.text for m in messages if m.type == "human")
        with self._lock:
            self._asked[text] += 1
        answer = self.answer(text)
        if isinstance(answer, Exception):
            raise answer
        if not isinstance(answer, AIMessage):
            usage: Any = {"input_tokens": 2, "output_tokens": 1, "total_tokens": 3}
            answer = AIMessage(str(answer), usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=answer)])


@pytest.fixture
def reader() -> Callable[[Callable[[str], Any]], Reader]:
    """``reader(f)``: a model that answers the text ``t`` with ``f(t)``."""

    def make(answer: Callable[[str], Any]) -> Reader:
        return Reader(answer=answer)

    return make


@pytest.fixture(params=["extract", "aextract"])
def extracted(
    request: pytest.FixtureRequest,
) -> Callable[..., tuple[list[Extraction[Any]], Totals]]:
    """Run a job to its end, in both calling styles: its results and its totals."""

    def run(
        model: Any, schema: Any, inputs: Iterable[Any], **settings: Any
    ) -> tuple[list[Extraction[Any]], Totals]:
        if request.param == "extract":
            results = extract(model, schema, inputs, **settings)
            return list(results), results.totals
        return asyncio.run(_collected(model, schema, inputs, settings))

    return run


async def _collected(
    model: Any, schema: Any, inputs: Iterable[Any], settings: dict[str, Any]
) -> tuple[list[Extraction[Any]], Totals]:
    results = aextract(model, schema, inputs, **settings)
    return [result async for result in results], results.totals
