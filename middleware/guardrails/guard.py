"""What all guardrails made of a check have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Self, cast

from langchain_core.messages import HumanMessage

from ..base import AgentMiddleware
from ..flows import Flow, adrive, drive
from ..message_text import text_of
from .check import GuardedCheck
from .kept import VERDICTS, GuardState, Record, Records, put_to_person, records_in
from .verdict import Verdict

Update = dict[str, Any] | None


class CheckedMiddleware(AgentMiddleware[Any, Any, Any]):
    """A middleware that is named after its check.

    Args:
        name: The name, which is also the exit reason of a run that it ends.
        check: The check.
    """

    state_schema = GuardState

    def __init__(self, name: str, check: GuardedCheck) -> None:
        self._name = self._owner = name
        self._check = check

    @property
    def name(self) -> str:
        """Name of the check."""
        return self._name

    def for_agent(self, name: str, tools: Mapping[str, Any]) -> Self:  # noqa: ARG002
        """The guardrail with its records under a name that no other one of the agent has."""
        own = copy(self)
        vars(own)["_owner"] = name
        return own

    def _records(self, state: Any) -> dict[str, Record]:
        """What the thread remembers of this guardrail's verdicts."""
        return records_in(state, self._owner)

    def _keep(self, records: Records) -> dict[str, Any]:
        """The update that keeps records."""
        return {VERDICTS: {self._owner: dict(records)}}

    def _person(self, stored: Record) -> Verdict:
        return put_to_person(self._name, self._check.surface, stored)


def both_forms(flow: Callable[[Any, Any], Flow[Any]]) -> tuple[Any, Any]:
    """A hook and its asynchronous twin, of logic that is written once over its first value."""

    def method(self: Any, value: Any, *_: Any) -> Any:
        return drive(flow(self, value))

    async def amethod(self: Any, value: Any, *_: Any) -> Any:
        return await adrive(flow(self, value))

    method.__doc__ = amethod.__doc__ = flow.__doc__
    return method, amethod


def with_text(message: Any, text: str) -> Any:
    """A message that says something else; pictures and files stay behind the text."""
    content: Any = message.content
    if isinstance(content, list):
        blocks = cast("list[Any]", content)
        others = [b for b in blocks if not (isinstance(b, str) or text_of(HumanMessage([b])))]
        content = [{"type": "text", "text": text}, *others] if others else text
    else:
        content = text
    return message.model_copy(update={"content": content})
