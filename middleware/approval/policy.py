"""When a person is asked: policies, each a question about one tool call.

Source: the policies of Haystack 3.4.1 (always, never, once), with two differences: a policy keeps
nothing itself, what was confirmed is remembered in the thread; and a policy that fails asks.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any, ClassVar, Protocol

from langchain_core.messages import AIMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from ...state.errors import ConfigurationError


@dataclass(frozen=True)
class ReviewContext:
    """What a policy may look at beside the call itself."""

    request: ToolCallRequest
    """The call, its tool, the state and the runtime."""
    reply: AIMessage
    """The model's message that makes the call."""
    confirmed: Mapping[str, float] = field(default_factory=dict[str, float])
    """When calls of this thread were confirmed, in seconds since 1970, by
    :func:`confirmation_key`."""


class ConfirmationPolicy(Protocol):
    """Decides whether a call needs a person.

    A policy whose ``should_ask`` also takes ``context`` is given a :class:`ReviewContext`. It may
    define ``update_after_confirmation(tool_name, tool_description, tool_params, result)``, which
    is told what came of the question.
    """

    def should_ask(
        self, tool_name: str, tool_description: str, tool_params: dict[str, Any]
    ) -> bool:
        """Whether a person must decide about this call. Asked once per call."""
        ...


class AlwaysAskPolicy:
    """Ask about every call."""

    def should_ask(
        self,
        tool_name: str,  # noqa: ARG002
        tool_description: str,  # noqa: ARG002
        tool_params: dict[str, Any],  # noqa: ARG002
    ) -> bool:
        """Always."""
        return True


class NeverAskPolicy:
    """Ask about no call."""

    def should_ask(
        self,
        tool_name: str,  # noqa: ARG002
        tool_description: str,  # noqa: ARG002
        tool_params: dict[str, Any],  # noqa: ARG002
    ) -> bool:
        """Never."""
        return False


@dataclass(frozen=True)
class AskOncePolicy:
    """Ask once per thread about a tool with certain arguments.

    Once such a call was confirmed as it was, equal calls of the thread run without a question.
    """

    ttl_s: float | None = None
    """Seconds that a confirmation holds; None means as long as the thread."""

    remembers: ClassVar[bool] = True
    """What is confirmed under this policy is noted in the thread."""

    def should_ask(
        self,
        tool_name: str,
        tool_description: str,  # noqa: ARG002
        tool_params: dict[str, Any],
        context: ReviewContext | None = None,
    ) -> bool:
        """Unless the thread knows the call."""
        known: Mapping[str, float] = context.confirmed if context is not None else {}
        since = known.get(confirmation_key(tool_name, tool_params))
        return since is None or (self.ttl_s is not None and time.time() - since >= self.ttl_s)


@dataclass(frozen=True)
class PredicatePolicy:
    """Ask where a function says so."""

    when: Callable[[ToolCallRequest], Any]
    """``(request) -> bool``. None, as from a forgotten ``return``, means to ask."""

    def should_ask(
        self,
        tool_name: str,  # noqa: ARG002
        tool_description: str,  # noqa: ARG002
        tool_params: dict[str, Any],  # noqa: ARG002
        context: ReviewContext | None = None,
    ) -> bool:
        """What the function says; without a context there is nothing it could look at."""
        if context is None:
            return True
        answer = self.when(context.request)
        return answer is None or bool(answer)


@dataclass(frozen=True)
class ConfidencePolicy:
    """Ask where the model is not sure of its call, or does not say how sure it is."""

    below: float = 0.5
    """Ask if the confidence is less than this."""
    key: str = "confidence"
    """Where ``response_metadata`` of the reply holds the confidence, from 0 to 1."""

    def __post_init__(self) -> None:
        if not 0 < self.below <= 1:
            msg = f"ConfidencePolicy(below={self.below!r}): give a number above 0, at most 1."
            raise ConfigurationError(msg)

    def should_ask(
        self,
        tool_name: str,  # noqa: ARG002
        tool_description: str,  # noqa: ARG002
        tool_params: dict[str, Any],  # noqa: ARG002
        context: ReviewContext | None = None,
    ) -> bool:
        """Whether the confidence is missing, no number, or too low."""
        metadata: Mapping[str, Any] = context.reply.response_metadata if context is not None else {}
        sure = metadata.get(self.key)
        if isinstance(sure, bool) or not isinstance(sure, (int, float)):
            return True
        return not sure >= self.below


@dataclass(frozen=True)
class Verdict:
    """Whether a person is to be asked."""

    ask: bool
    problem: str | None = None
    """Why the policy could not tell, if it could not; a person is then asked."""


def verdict_of(policy: ConfirmationPolicy, description: str, context: ReviewContext) -> Verdict:
    """What a policy says about a call; one that fails is taken to ask."""
    call = context.request.tool_call
    extra = {"context": context} if _takes_context(policy) else {}
    try:
        asks: Any = policy.should_ask(
            tool_name=call["name"], tool_description=description, tool_params=call["args"], **extra
        )
    except Exception as error:  # noqa: BLE001 - a guard that fails blocks
        return Verdict(ask=True, problem=f"{type(error).__name__}: {error}")
    if asks is None:
        return Verdict(ask=True, problem=f"{type(policy).__name__}.should_ask returned None")
    return Verdict(ask=bool(asks))


def confirmation_key(tool_name: str, args: Mapping[str, Any]) -> str:
    """A short name for a tool with certain arguments, the same in every process."""
    text = json.dumps([tool_name, args], sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


def _takes_context(policy: ConfirmationPolicy) -> bool:
    parameters = signature(policy.should_ask).parameters.values()
    return any(p.name == "context" or p.kind is Parameter.VAR_KEYWORD for p in parameters)
