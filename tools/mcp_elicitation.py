"""Questions of an MCP server, put to a person by an interrupt of the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, cast

from langgraph.types import interrupt
from pydantic import AfterValidator, ConfigDict
from typing_extensions import TypedDict

from .schema_fit import first_problem, schema_problem


class ElicitationAnswer(TypedDict):
    """What resumes a run that an MCP server's question paused."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    action: Literal["accept", "decline", "cancel"]
    content: NotRequired[dict[str, Any]]
    """With ``accept``, what was asked for, by the names of the question's schema."""


def question_of(server: str, tool: str, params: Any) -> dict[str, Any]:
    """A server's question as the value of an interrupt."""
    question: dict[str, Any] = {
        "type": "mcp_elicitation",
        "server": server,
        "tool": tool,
        "message": params.message,
    }
    if getattr(params, "mode", "form") == "url":
        return {**question, "url": params.url}
    schema = params.requested_schema
    return {**question, "schema": schema if isinstance(schema, dict) else schema.model_dump()}


def ask(question: Mapping[str, Any]) -> dict[str, Any]:
    """Pause the run with a question; the answer, once it is there.

    An answer that does not fit the question's schema is refused before it is stored.

    Raises:
        GraphInterrupt: The run pauses.
    """
    fits = AfterValidator(lambda answer: _fitting(question, answer))
    answer_type: Any = Annotated[ElicitationAnswer, fits]
    return cast("dict[str, Any]", interrupt(dict(question), response_schema=answer_type))


def _fitting(question: Mapping[str, Any], answer: ElicitationAnswer) -> ElicitationAnswer:
    schema = question.get("schema")
    if answer["action"] != "accept" or schema is None:
        return answer
    if (problem := schema_problem(schema)) is not None:
        msg = f"the server asks with a schema that is not valid: {problem}"
        raise ValueError(msg)
    if (problem := first_problem(answer.get("content", {}), schema)) is not None:
        msg = f"content does not fit the question: {problem}"
        raise ValueError(msg)
    return answer
