"""A course recommendation, read out of free text as a pydantic object."""

from __future__ import annotations

from typing import Literal

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from ...agent import create_agent
from ...compiled import AgentGraph
from .stage import Stage

TITLE = "A structured answer from free text"
WHAT_FOR = "response_format is a pydantic class; the result holds an instance of it."


class CourseRecommendation(BaseModel):
    """A course that an adviser recommends."""

    course_name: str = Field(description="Name of the recommended course")
    reason: str = Field(description="Why it is recommended")
    difficulty: Literal["beginner", "intermediate", "advanced"] = Field(
        description="Level of difficulty"
    )


def build(model: BaseChatModel) -> AgentGraph:
    """An agent whose answer is a recommendation."""
    return create_agent(model, response_format=CourseRecommendation, name="adviser")


def show(stage: Stage) -> None:
    """Read a recommendation out of a sentence."""
    result = stage.ask(
        build(stage.model),
        "For a complete beginner our adviser recommends the course Python from Zero, "
        "because its syntax is simple.",
    )
    found = result.get("structured_response")
    stage.claim(
        "structured_response is a CourseRecommendation",
        holds=isinstance(found, CourseRecommendation),
    )
    if isinstance(found, CourseRecommendation):
        stage.claim(
            f"course_name: {found.course_name}", holds=found.course_name == "Python from Zero"
        )
        stage.claim(f"reason: {found.reason}", holds="simple" in found.reason)
        stage.claim(f"difficulty: {found.difficulty}", holds=found.difficulty == "beginner")
    stage.claim(
        "the result says why the run ended: structured_response",
        holds=result["exit_reason"] == "structured_response",
    )
