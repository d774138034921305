"""What tests of guardrails share: a scripted model, and runs in both modes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import pytest
from hypothesis import strategies as st
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    add_notification_metadata,
)
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


@st.composite
def _histories(draw: st.DrawFn, *, complete: bool = True) -> list[BaseMessage]:
    """A valid conversation as it is before a model call: the last messages are unread."""
    restart = draw(st.booleans())
    size = st.integers(0, 300)
    messages: list[BaseMessage] = [SystemMessage("rules")] * draw(st.integers(0, 1))
    if draw(st.booleans()):
        messages.append(add_notification_metadata(HumanMessage("old"), source="summarization"))

    def step(number: int, calls: int, answered: int) -> None:
        ids = [f"c{n}" if restart else f"c{number}-{n}" for n in range(calls)]
        tool_calls = [{"name": "t", "args": {"q": "x"}, "id": i, "type": "tool_call"} for i in ids]
        messages.append(AIMessage("a" * draw(size), tool_calls=tool_calls))
        messages.extend(
            ToolMessage("r" * draw(size), tool_call_id=ident, name="t")
            for ident in draw(st.permutations(ids))[:answered]
        )

    for turn in range(draw(st.integers(0, 4))):
        messages.append(HumanMessage("u" * draw(size)))
        for n in range(draw(st.integers(0, 2))):
            calls = draw(st.integers(1, 3))
            step(10 * turn + n, calls, calls)
        if draw(st.booleans()):
            nudge = add_notification_metadata(HumanMessage("go on"), source="interlock")
            messages.append(nudge)
        step(10 * turn + 9, 0, 0)
    messages.append(HumanMessage("the task"))
    for n in range(draw(st.integers(0, 4))):
        calls = draw(st.integers(1, 3))
        step(100 + n, calls, calls)
    if not complete:
        step(200, 2, draw(st.integers(0, 1)))
    for number, message in enumerate(messages):
        messages[number] = message.model_copy(update={"id": f"m{number}"})
    return messages


@pytest.fixture(scope="session")
def histories() -> Callable[..., st.SearchStrategy[list[BaseMessage]]]:
    """``histories()``: conversations before a model call; ``complete=False``: with open calls."""
    return _histories


@pytest.fixture(scope="session")
def faults() -> Callable[[Sequence[BaseMessage]], list[str]]:
    """``faults(messages)``: what a strict provider would refuse, open calls at the end aside."""

    def find(messages: Sequence[BaseMessage]) -> list[str]:
        found: list[str] = []
        waiting: set[str | None] = set()
        for position, message in enumerate(messages):
            if isinstance(message, ToolMessage):
                if message.tool_call_id not in waiting:
                    found.append(f"{position}: result without its call")
                waiting.discard(message.tool_call_id)
                continue
            found += [f"{position}: comes before the result of {ident}" for ident in waiting]
            calls = message.tool_calls if isinstance(message, AIMessage) else []
            waiting = {call["id"] for call in calls}
        return found

    return find
