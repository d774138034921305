"""Guardrails on what a user writes and on what the model answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from ...state.history import last_ai_message
from ...tools.calls import AWAITING, BLOCKING, Calls, Job, run_inline
from ..base import hook_config
from ..request import ModelRequest, ModelResponse
from .named import CheckedMiddleware
from .verdict import Verdict

Update = dict[str, Any] | None


class MessageGuardrail(CheckedMiddleware):
    """What the two guardrails on messages share."""

    def _stop(self, verdict: Verdict, replaces: BaseMessage | None = None) -> dict[str, Any]:
        """End the run with the reason as its answer; the name of the check is the exit reason."""
        answer = AIMessage(verdict.reason, id=replaces.id if replaces is not None else None)
        return {"messages": [answer], "stop_run": self._name}


class InputGuardrail(MessageGuardrail):
    """Checks the text of each new human message once, before the model sees it.

    It does not see what tools bring in later, nor images and files.
    """

    interrupts = ("before_agent",)

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> Update:  # noqa: ARG002
        """Check the new messages."""
        return run_inline(self._guard(BLOCKING, state))

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: Any, runtime: Any) -> Update:  # noqa: ARG002
        """Check the new messages on the event loop."""
        return await self._guard(AWAITING, state)

    async def _guard(self, calls: Calls, state: Mapping[str, Any]) -> Update:
        revised: list[BaseMessage] = []
        for message in new_human_messages(state["messages"]):
            verdict = await self._check.run(calls, message.text)
            if verdict.kind == "block":
                return self._stop(verdict)
            if verdict.kind == "revise":
                revised.append(message.model_copy(update={"content": verdict.value}))
        return {"messages": revised} if revised else None


class ParallelInputGuardrail(MessageGuardrail):
    """Checks new human messages while the model already works on them.

    The reply is held back until the check is done, and dropped if it blocks. Nothing is saved of
    the model's cost, only time; a ``revise`` comes too late and is taken as ``block``. Token
    streams begin before the verdict is known.
    """

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[Any], ModelResponse[Any]]
    ) -> Any:
        """Check and ask at the same time."""

        async def model(asked: ModelRequest[Any]) -> ModelResponse[Any]:
            return handler(asked)

        return run_inline(self._beside(BLOCKING, request, model))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[Any], Awaitable[ModelResponse[Any]]]
    ) -> Any:
        """Check and ask at the same time, on the event loop."""
        return await self._beside(AWAITING, request, handler)

    async def _beside(self, calls: Calls, request: ModelRequest[Any], model: Any) -> Any:
        messages = new_human_messages(request.messages)
        if not messages:
            return await model(request)
        checks = [partial(self._check.run, calls, message.text) for message in messages]

        async def reply() -> Any:
            return await model(request)

        jobs: list[Job[Any]] = [*checks, reply]
        *verdicts, answer = await calls.many(jobs, None)
        for outcome in verdicts:
            verdict = outcome.value
            if outcome.error is not None:
                raise outcome.error
            if verdict is not None and verdict.kind != "allow":
                return AIMessage(verdict.reason or "This message cannot be answered.")
        if answer.error is not None:
            raise answer.error
        return answer.value


class OutputGuardrail(MessageGuardrail):
    """Checks the text of each reply before it is stored or returned.

    A token stream shows the text before it is checked.
    """

    interrupts = ("after_model",)

    @hook_config(can_jump_to=["end"])
    def after_model(self, state: Any, runtime: Any) -> Update:  # noqa: ARG002
        """Check the reply."""
        return run_inline(self._guard(BLOCKING, state))

    @hook_config(can_jump_to=["end"])
    async def aafter_model(self, state: Any, runtime: Any) -> Update:  # noqa: ARG002
        """Check the reply on the event loop."""
        return await self._guard(AWAITING, state)

    async def _guard(self, calls: Calls, state: Mapping[str, Any]) -> Update:
        found = last_ai_message(state["messages"])
        if found is None or not found[1].text:
            return None
        reply = found[1]
        verdict = await self._check.run(calls, reply.text)
        if verdict.kind == "block":
            return self._stop(verdict, replaces=reply)
        if verdict.kind == "revise":
            return {"messages": [reply.model_copy(update={"content": verdict.value})]}
        return None


def new_human_messages(messages: list[Any]) -> list[HumanMessage]:
    """The human messages behind the last reply, oldest first."""
    found = last_ai_message(messages)
    start = found[0] + 1 if found is not None else 0
    return [m for m in messages[start:] if isinstance(m, HumanMessage)]
