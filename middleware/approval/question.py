"""One call that a person is to decide about, and how it is put to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import AIMessage, ToolCall
from langchain_core.tools import BaseTool

from .answer_schema import answer_type, decision_type
from .request import ActionRequest, Asked, HITLRequest, ReviewConfig, ToolApprovalRequest
from .rule import Rule

UNKNOWN_TOOL = "The agent has no tool of this name."


@dataclass(frozen=True)
class Question:
    """A call and its rule; made anew for the call that an edit put in its place."""

    reply: AIMessage
    """The message that makes the call."""
    made: ToolCall
    """The call as the model made it."""
    call: ToolCall
    """The call that would run."""
    rule: Rule
    title: str
    """What is to be done, in words."""
    tools: Mapping[str, BaseTool | None]
    """What an edit may run, by name; None where the arguments are not known."""
    remarks: tuple[str, ...] = ()
    """What a reviewer should know beside it."""

    @property
    def id(self) -> str:
        """Id of the call."""
        return cast("str", self.call["id"])

    @property
    def description(self) -> str:
        """What the reviewer reads."""
        return "\n\n".join([self.title, *self.remarks])

    @property
    def asked(self) -> Asked:
        """The question as an answer is read against it."""
        return Asked(
            name=self.call["name"],
            args=self.call["args"],
            description=self.description,
            allowed=self.rule.allowed,
            call_id=self.id,
        )

    @property
    def answer_type(self) -> Any:
        """The type of a decision about it."""
        return decision_type(self.rule.allowed, self.tools)

    def approval_request(self) -> ToolApprovalRequest:
        """The question alone, as the value of an interrupt."""
        return ToolApprovalRequest(
            type="tool_approval",
            tool_call_id=self.id,
            name=self.call["name"],
            args=self.call["args"],
            description=self.description,
        )

    def review_config(self) -> ReviewConfig:
        """What may be decided."""
        config = ReviewConfig(
            action_name=self.call["name"], allowed_decisions=list(self.rule.allowed)
        )
        if self.rule.args_schema is not None:
            config["args_schema"] = dict(self.rule.args_schema)
        return config


def review_request(questions: Sequence[Question]) -> HITLRequest:
    """Several questions as the value of one interrupt."""
    requests = [
        ActionRequest(
            name=q.call["name"],
            args=q.call["args"],
            description=q.description,
            tool_call_id=q.id,
        )
        for q in questions
    ]
    return HITLRequest(
        action_requests=requests, review_configs=[q.review_config() for q in questions]
    )


def review_answer_type(questions: Sequence[Question]) -> Any:
    """The type of an answer to :func:`review_request`."""
    return answer_type([(q.id, q.rule.allowed, q.tools) for q in questions])
