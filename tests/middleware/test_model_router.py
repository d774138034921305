from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.decisions import BaseDecisionModel, ChoiceAnswer, ClassifierResponse
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import ValidationError

from interlock.graph import create_agent
from interlock.middleware import ModelChoice, ModelRouterMiddleware
from interlock.state.errors import InvalidInputError, RunError

Run = Callable[..., Awaitable[dict[str, Any]]]
Scripted = Callable[..., Any]


class Classifier(BaseDecisionModel):
    """Chooses one label, or fails."""

    model: str = "test"
    label: str = "fast"
    fails: bool = False
    asked: list[Any] = []  # noqa: RUF012 - pydantic copies it

    @property
    def _provider(self) -> str:
        return "test"

    def _classify(self, state: Any, questions: Any) -> ClassifierResponse:
        self.asked.append((state, questions))
        if self.fails:
            raise ConnectionError
        answer = ChoiceAnswer(
            type="choice", choice=self.label, probabilities={self.label: 1.0}, confidence=1.0
        )
        return ClassifierResponse(model="test", answers={"model_route": answer})


def _router(classifier: Classifier, fast: Any, slow: Any) -> ModelRouterMiddleware:
    choices = {"fast": ModelChoice(fast, "Small tasks."), "slow": ModelChoice(slow, "The rest.")}
    return ModelRouterMiddleware(
        choices=choices, instructions="Choose the cheaper one.", classifier=classifier
    )


async def test_chosen_model_makes_every_call_of_the_run(run: Run, scripted: Scripted) -> None:
    def look_up(key: str) -> str:
        """Look up a key."""
        return key

    call = {"name": "look_up", "args": {"key": "a"}, "id": "c1", "type": "tool_call"}
    fast, own = scripted(AIMessage("", tool_calls=[call]), "done"), scripted("unused")
    classifier = Classifier()
    agent = create_agent(own, [look_up], middleware=[_router(classifier, fast, own)])
    result = await run(agent, {"messages": "hi"})
    assert (fast.calls, own.calls, len(classifier.asked)) == (2, 0, 1)
    assert result["model_route"].choice == "fast"
    assert classifier.asked[0][0].text == "hi"


async def test_choice_is_made_anew_in_the_next_run(run: Run, scripted: Scripted) -> None:
    classifier, fast, slow = Classifier(), scripted("fast"), scripted("slow")
    agent = create_agent(
        slow, middleware=[_router(classifier, fast, slow)], checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "t"}}
    await run(agent, {"messages": "one"}, config)
    classifier.label = "slow"
    result = await run(agent, {"messages": "two"}, config)
    assert result["messages"][-1].text == "slow"
    assert [state.text for state, _ in classifier.asked] == ["one", "two"]


async def test_failing_classifier_ends_the_run(run: Run, scripted: Scripted) -> None:
    model = scripted("x")
    router = _router(Classifier(fails=True), model, model)
    with pytest.raises(ConnectionError):
        await run(create_agent(model, middleware=[router]), {"messages": "hi"})
    assert model.calls == 0


async def test_label_that_is_no_choice_ends_the_run(run: Run, scripted: Scripted) -> None:
    model = scripted("x")
    router = _router(Classifier(label="best"), model, model)
    with pytest.raises(RunError, match="chose 'best'; the choices are 'fast', 'slow'"):
        await run(create_agent(model, middleware=[router]), {"messages": "hi"})


async def test_task_is_needed(run: Run, scripted: Scripted) -> None:
    model = scripted("x")
    agent = create_agent(model, middleware=[_router(Classifier(), model, model)])
    with pytest.raises(InvalidInputError, match="requires a HumanMessage"):
        await run(agent, {"messages": [AIMessage("hi")]})


async def test_route_cannot_be_given_by_the_caller(run: Run, scripted: Scripted) -> None:
    fast, slow = scripted("fast"), scripted("slow")
    agent = create_agent(fast, middleware=[_router(Classifier(label="fast"), fast, slow)])
    result = await run(agent, {"messages": "hi", "model_route": "slow"})
    assert (result["model_route"].choice, slow.calls) == ("fast", 0)


def test_choices_are_needed() -> None:
    with pytest.raises(ValidationError, match="choices"):
        ModelRouterMiddleware(choices={}, instructions="x", classifier=Classifier())


async def test_with_a_single_choice_nobody_is_asked(run: Run, scripted: Scripted) -> None:
    classifier, only = Classifier(fails=True), scripted("hello")
    router = ModelRouterMiddleware(
        choices={"only": ModelChoice(only, "Everything.")},
        instructions="Choose.",
        classifier=classifier,
    )
    result = await run(create_agent(scripted("unused"), middleware=[router]), {"messages": "hi"})
    assert result["messages"][-1].text == "hello"
    assert (classifier.asked, result["model_route"].choice) == ([], "only")
