"""The structured answer of one model request: what to bind, and how to read the reply."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool

from ...state.errors import StructuredOutputError
from ...state.structured_errors import MissingStructuredOutputError
from .answers import (
    Answer,
    Reply,
    answer_in_call,
    answer_in_native_text,
    answer_in_prose,
    read_reply,
)
from .growing import GrowingAnswer
from .outcome import NotDue, Outcome, accepted, refused
from .schema import SchemaSpec
from .strategies import ProviderStrategy, ToolStrategy


@dataclass(frozen=True)
class ActiveOutput:
    """The strategy in force for one model request."""

    strategy: ToolStrategy[Any] | ProviderStrategy[Any]
    """The strategy itself, with its settings."""
    specs: tuple[SchemaSpec[Any], ...]
    """The schemas that are accepted, under the names of the agent's output tools."""
    tools: tuple[BaseTool | dict[str, Any], ...]
    """Output tools to bind beside the ordinary ones."""
    model_kwargs: Mapping[str, Any]
    """Keyword arguments to bind to the model."""
    tool_names: Collection[str]
    """Names of all output tools of the agent, those not offered now included."""

    def tool_choice(self, requested: Any = None) -> Any:
        """Give the ``tool_choice`` to bind: the requested one, else one that forces a call."""
        if requested is not None or not self.tools:
            return requested
        return "any"

    def read(
        self, message: AIMessage, failures: Sequence[str] = (), *, with_tools: bool = True
    ) -> Outcome:
        """Tell what a reply means for the answer that is due.

        Args:
            message: The reply, with its calls and their ids as they go into the history.
            failures: Why earlier attempts of the same run were refused, as the last
                :class:`AskAgain` gave them.
            with_tools: The request may have ordinary tools, which run before an answer is due.
                Without them a call of any other tool is a wrong answer.

        Returns:
            The outcome. Nothing is raised for what a model wrote, only for a ``handle_errors``
            function that fails.
        """
        reply = read_reply(message, self.tool_names)
        if not reply.calls and (message.tool_calls or message.invalid_tool_calls):
            if with_tools:
                return NotDue()
            reply = read_reply(message)
            error = MissingStructuredOutputError([spec.title for spec in self.specs], message)
            return refused(error, reply, self.strategy, self.specs, failures)
        try:
            answer = self._answer(reply)
        except StructuredOutputError as error:
            return refused(error, reply, self.strategy, self.specs, failures)
        return accepted(answer, reply, self.strategy)

    def growing(self) -> GrowingAnswer:
        """Give what reads the answer from the chunks of one reply."""
        return GrowingAnswer(self.specs, native=isinstance(self.strategy, ProviderStrategy))

    def text_of(self, message: AIMessage) -> str:
        """Give what a model answered, as text: its output calls, or else its words."""
        return read_reply(message, self.tool_names).text

    def _answer(self, reply: Reply) -> Answer:
        if reply.calls:
            return answer_in_call(reply, self.specs)
        if isinstance(self.strategy, ProviderStrategy):
            return answer_in_native_text(reply, self.specs[0])
        return answer_in_prose(reply, self.specs)
