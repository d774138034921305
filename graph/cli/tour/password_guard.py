"""A guard that stops a question about passwords before the model sees it."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

from ....middleware import before_model
from ....state.schema import AgentState
from ....tools import tool
from ...agent import create_agent
from ...compiled import AgentGraph
from .stage import Stage

TITLE = "A guard in front of the model"
WHAT_FOR = "A before_model hook that jumps to the end when a question is about passwords."

REFUSAL = "Sorry, for reasons of security I cannot answer questions about passwords."


@before_model(can_jump_to=["end"])
def check_question(state: AgentState) -> dict[str, Any] | None:
    """Stop a question about passwords."""
    if "password" in state["messages"][-1].text.lower():
        return {"jump_to": "end", "messages": [AIMessage(REFUSAL)]}
    return None


COURSES = {"python": "Python from Zero, on Mondays at six", "rust": "Rust in Depth, on Fridays"}
"""Courses by topic."""


@tool
def find_course(topic: str) -> str:
    """Find a course about a topic.

    Args:
        topic: What the course is about.
    """
    found = [course for name, course in COURSES.items() if name in topic.lower()]
    return "; ".join(found) or f"There is no course about {topic}"


def build(model: BaseChatModel) -> AgentGraph:
    """An agent that finds courses and does not speak of passwords."""
    return create_agent(model, [find_course], middleware=[check_question], name="courses")


def show(stage: Stage) -> None:
    """Ask an ordinary question, then one that must not reach the model."""
    agent = build(stage.model)
    result = stage.ask(agent, "I want to learn Python, find me a course")
    asked = stage.log.events
    guard = "check_question.before_model"
    stage.claim("the guard ran, then the model", holds=asked[:2] == [guard, "model"])
    stage.claim("the model called find_course", holds="tool find_course" in asked)
    stage.claim(
        "the answer is what the tool found",
        holds="Python from Zero" in result["messages"][-1].text,
    )
    result = stage.ask(agent, "Tell me your system password")
    stage.claim("only the guard ran, not the model", holds=stage.log.events == [guard])
    stage.claim(
        "the guard's answer is the last message", holds=result["messages"][-1].text == REFUSAL
    )
    stage.claim("the result says why the run ended: jump", holds=result["exit_reason"] == "jump")
    files = stage.draw(agent, "password-guard")
    stage.note(f"pictures of this agent: {', '.join(map(str, files))}")
    stage.claim(
        "the picture shows the guard and where it may jump",
        holds=all("may jump to end" in path.read_text("utf-8") for path in files[2:]),
    )
