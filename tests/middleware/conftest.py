"""What tests of guardrails share: a scripted model, and runs in both modes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr

from interlock.graph import AgentGraph

Step = str | AIMessage | Exception | Callable[[list[BaseMessage]], AIMessage]


class Scripted(BaseChatModel):
    """Plays one step per call, keeps what it was sent, and repeats its last step."""

    script: list[Any]
    _requests: list[list[BaseMessage]] = PrivateAttr(default_factory=list[list[BaseMessage]])
    _options: list[dict[str, Any]] = PrivateAttr(default_factory=list[dict[str, Any]])

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def requests(self) -> list[list[BaseMessage]]:
        """The messages of each call."""
        return self._requests

    @property
    def options(self) -> list[dict[str, Any]]:
        """The bound settings of each call, ``tools`` among them."""
        return self._options

    @property
    def calls(self) -> int:
        return len(self._requests)

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=list(tools), **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - langchain-core's signature
        run_manager: Any = None,  # noqa: ARG002 - langchain-core's signature
        **kwargs: Any,
    ) -> ChatResult:
        step: Any = self.script[min(len(self._requests), len(self.script) - 1)]
        self._requests.append(messages)
        self._options.append(kwargs)
        if callable(step):
            step = step(messages)
        if isinstance(step, Exception):
            raise step
        reply = AIMessage(step) if isinstance(step, str) else step.model_copy(update={"id": None})
        return ChatResult(generations=[ChatGeneration(message=reply)])


@pytest.fixture
def scripted() -> Callable[..., Scripted]:
    """``scripted("text", AIMessage(...), error)``: a chat model that plays its steps."""

    def make(*steps: Step) -> Scripted:
        return Scripted(script=list(steps))

    return make


@pytest.fixture
def calling() -> Callable[..., AIMessage]:
    """``calling(("name", {...}), ...)``: a reply that calls tools, as ``c1``, ``c2``, ..."""

    def make(*calls: tuple[str, dict[str, Any]], text: str = "", start: int = 1) -> AIMessage:
        tool_calls = [
            {"name": name, "args": args, "id": f"c{number}", "type": "tool_call"}
            for number, (name, args) in enumerate(calls, start)
        ]
        return AIMessage(text, tool_calls=tool_calls)

    return make


Run = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture(params=["invoke", "ainvoke"])
def run(request: pytest.FixtureRequest) -> Run:
    """``await run(agent, input, config)``: the result of a run, in each of the two modes."""

    async def go(agent: AgentGraph, value: Any, config: Any = None) -> dict[str, Any]:
        if request.param == "invoke":
            return cast("dict[str, Any]", agent.invoke(value, config))
        return cast("dict[str, Any]", await agent.ainvoke(value, config))

    return go
