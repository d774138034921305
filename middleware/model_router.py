"""Choosing the model by the task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired

from langchain_core.decisions import BaseDecisionModel, Choice, ChoiceAnswer, Question
from langchain_core.decisions.types import Content
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import TracePolicy, omit_payload
from pydantic import BaseModel, Field, JsonValue

from ..state.errors import InvalidInputError, RunError
from ..state.schema import AgentState, OmitFromInput
from .base import AgentMiddleware
from .flows import Ask, Flow, adrive, drive, request_layer
from .internal_call_transformer import internal_config
from .model_names import init_chat_model
from .request import ModelRequest

_QUESTION = "model_route"


@dataclass(frozen=True)
class ModelChoice:
    """A model that the router may choose."""

    model: str | BaseChatModel
    """A chat model, or ``"provider:name"``."""
    criteria: JsonValue
    """What the model is for, as the classifier reads it."""


class ModelRouterConfig(BaseModel):
    """The checked settings of a router."""

    choices: dict[str, ModelChoice] = Field(min_length=1)
    instructions: Content


class ModelRouterState(AgentState[Any]):
    """What a router keeps: the classifier's answer for the current run."""

    model_route: NotRequired[Annotated[ChoiceAnswer, OmitFromInput]]


class ModelRouterMiddleware(AgentMiddleware[Any, Any, Any]):
    """Lets a decision model choose, once per run, which chat model does the work.

    The classifier reads the latest human message; with a single choice it is not asked. Its whole answer, with probabilities, is kept
    as ``model_route`` and is part of the result. If it fails, or answers with something that is
    no choice, the run ends: a router does not silently use another model.

    It does not cover: a task that changes within a run; a human message written to be sent to the
    model of its choice, since the classifier reads what the user writes; models of a fallback or
    retry listed outside, which are asked instead of the chosen one.
    """

    state_schema = ModelRouterState
    trace_policy = TracePolicy(process_inputs=omit_payload)

    def __init__(
        self,
        *,
        choices: Mapping[str, ModelChoice],
        instructions: Content,
        classifier: BaseDecisionModel,
    ) -> None:
        """Set between which models is chosen, and how.

        Args:
            choices: The models by the label that the classifier answers with.
            instructions: How to choose.
            classifier: The decision model.

        Raises:
            pydantic.ValidationError: There is no choice, or a setting is of the wrong kind.
            ConfigurationError: The name of a model means nothing.
        """
        self.config = ModelRouterConfig.model_validate(
            {"choices": choices, "instructions": instructions}
        )
        self.classifier = classifier
        self.models = {
            label: init_chat_model(choice.model) if isinstance(choice.model, str) else choice.model
            for label, choice in self.config.choices.items()
        }

    def before_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG002
        """Ask the classifier."""
        return drive(self._choose(state))

    async def abefore_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG002
        """The same in an asynchronous run."""
        return await adrive(self._choose(state))

    def _choose(self, state: Any) -> Flow[dict[str, Any]]:
        task = _latest_human_message(state)
        if len(self.models) == 1:
            return {_QUESTION: _only(next(iter(self.models)))}
        asked = {"state": task, "questions": _routing_questions(self.config)}
        response = yield Ask.model(self.classifier, asked, internal_config("model_router"))
        answer = response.choices.get(_QUESTION)
        if answer is None or answer.choice not in self.models:
            given = None if answer is None else answer.choice
            msg = (
                f"The classifier of ModelRouterMiddleware chose {given!r}; the choices are "
                f"{', '.join(map(repr, self.models))}. Check the classifier."
            )
            raise RunError(msg)
        return {_QUESTION: answer}

    def _routed(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Send the call to the chosen model."""
        return request.override(model=self.models[request.state[_QUESTION].choice])

    wrap_model_call, awrap_model_call = request_layer(_routed)


def _only(label: str) -> ChoiceAnswer:
    """The answer where there is nothing to choose between."""
    return ChoiceAnswer(type="choice", choice=label, probabilities={label: 1.0}, confidence=1.0)


def _routing_questions(config: ModelRouterConfig) -> dict[str, Question]:
    criteria = {label: choice.criteria for label, choice in config.choices.items()}
    return {_QUESTION: Choice(instructions=config.instructions, criteria=criteria)}


def _latest_human_message(state: Any) -> HumanMessage:
    for message in reversed(state["messages"]):
        if isinstance(message, HumanMessage):
            return message
    msg = (
        "ModelRouterMiddleware requires a HumanMessage to route on, and there is none; give one "
        "in the input."
    )
    raise InvalidInputError(msg, key="messages")
