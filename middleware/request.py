"""What a model call is asked with, and what comes back, as ``wrap_model_call`` sees it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, fields
from typing import Any, Generic

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, SystemMessage
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime
from langgraph.types import Command
from langgraph.typing import ContextT

from ..state.containers import with_fields
from ..state.schema import ResponseT


@dataclass(init=False)
class ModelRequest(Generic[ContextT]):
    """One request to the chat model.

    Change it with :meth:`override`, which returns a new request; a layer may call its handler
    with several requests, one after the other.
    """

    model: BaseChatModel
    messages: list[AnyMessage]
    """The conversation without the system message. Messages appended here are kept."""
    system_message: SystemMessage | None
    tool_choice: Any | None
    tools: list[BaseTool | dict[str, Any]]
    """What the model may call: tool objects, and tools of the provider as dicts."""
    response_format: Any | None
    """The structured output that is due, in any form ``create_agent`` takes."""
    state: Any
    """The current state, with everything earlier hooks of this step wrote."""
    runtime: Runtime[ContextT]
    model_settings: dict[str, Any] = field(default_factory=dict[str, Any])
    """Further arguments of the model call, such as ``temperature``."""

    def __init__(
        self,
        *,
        model: Any,
        messages: list[Any],
        system_message: SystemMessage | None = None,
        system_prompt: str | None = None,
        tool_choice: Any | None = None,
        tools: list[Any] | None = None,
        response_format: Any | None = None,
        state: Any = None,
        runtime: Any = None,
        model_settings: dict[str, Any] | None = None,
    ) -> None:
        if system_prompt is not None:
            if system_message is not None:
                msg = "Cannot specify both system_prompt and system_message; give one of them."
                raise ValueError(msg)
            system_message = SystemMessage(system_prompt)
        # __setattr__ is for users, and says so.
        keep = object.__setattr__
        keep(self, "model", model)
        keep(self, "messages", messages)
        keep(self, "system_message", system_message)
        keep(self, "tool_choice", tool_choice)
        keep(self, "tools", tools if tools is not None else [])
        keep(self, "response_format", response_format)
        keep(self, "state", state if state is not None else {"messages": []})
        keep(self, "runtime", runtime)
        keep(self, "model_settings", model_settings if model_settings is not None else {})

    @property
    def system_prompt(self) -> str | None:
        """Text of the system message."""
        return None if self.system_message is None else self.system_message.text

    def __setattr__(self, name: str, value: Any) -> None:
        # typing sets __orig_class__ on instances of a subscripted class.
        if not name.startswith("__"):
            warnings.warn(
                f"Direct attribute assignment to ModelRequest.{name} is deprecated; "
                f"use request.override({name}=...).",
                DeprecationWarning,
                stacklevel=2,
            )
        if name == "system_prompt":
            name, value = "system_message", None if value is None else SystemMessage(value)
        self.__dict__[name] = value

    def override(self, **changes: Any) -> ModelRequest[ContextT]:
        """A request with some fields replaced; this one stays as it is.

        Args:
            **changes: New values by field name; ``system_prompt`` stands for a system message.

        Raises:
            ValueError: Both ``system_prompt`` and ``system_message`` are given.
            TypeError: A name is no field.
        """
        if "system_prompt" in changes:
            if "system_message" in changes:
                msg = "Cannot specify both system_prompt and system_message; give one of them."
                raise ValueError(msg)
            prompt = changes.pop("system_prompt")
            changes["system_message"] = None if prompt is None else SystemMessage(prompt)
        if unknown := changes.keys() - _REQUEST_FIELDS:
            msg = f"ModelRequest has no fields {', '.join(sorted(unknown))}."
            raise TypeError(msg)
        return with_fields(self, **changes)


_REQUEST_FIELDS = {f.name for f in fields(ModelRequest)}


@dataclass
class ModelResponse(Generic[ResponseT]):
    """The answer of a model call."""

    result: list[BaseMessage]
    """Usually one AI message; results of structured output follow it."""
    structured_response: ResponseT | None = None
    """The structured answer, where one was due and given."""


@dataclass
class ExtendedModelResponse(Generic[ResponseT]):
    """A model's answer together with a state update of the layer that returns it."""

    model_response: ModelResponse[ResponseT]
    command: Command[Any] | None = None
    """Only its ``update`` is used; a layer cannot send the run anywhere. A key without a reducer
    may be written by one layer only, and ``structured_response`` only where the answer has none."""
    discards_inner: bool = False
    """What layers further in wrote goes with their answer, which is not the one given here."""


ModelCallResult = ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]
"""What ``wrap_model_call`` may return."""
