from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from interlock.graph.structured_output import (
    ActiveOutput,
    AutoStrategy,
    OutputPlan,
    ProviderStrategy,
    ToolStrategy,
)
from interlock.state.errors import ConfigurationError


class Answer(BaseModel):
    text: str


class Score(BaseModel):
    points: int


def kind(active: ActiveOutput | None) -> str:
    assert active is not None
    return type(active.strategy).__name__


def test_schema_is_asked_for_as_the_model_can() -> None:
    plan = OutputPlan.from_response_format(Answer)

    assert kind(plan.resolve(plan.strategy, "gpt-5.5")) == "ProviderStrategy"
    assert kind(plan.resolve(plan.strategy, "another")) == "ToolStrategy"
    assert plan.resolve(Answer, "another") is plan.resolve(plan.strategy, "another")


def test_tools_of_the_request_count_when_the_model_is_asked() -> None:
    plan = OutputPlan.from_response_format(Answer)
    asked: list[Any] = []

    def supports(model: Any, tools: Any = None) -> bool:
        asked.append((model, tools))
        return True

    plan.resolve(plan.strategy, "m", ["a tool"], supports=supports)
    assert asked == [("m", ["a tool"])]


def test_union_is_always_asked_for_by_tools() -> None:
    plan = OutputPlan.from_response_format(Answer | Score)

    assert kind(plan.resolve(plan.strategy, "gpt-5.5")) == "ToolStrategy"
    assert kind(plan.resolve(AutoStrategy[Any](Score | Answer), "gpt-5.5")) == "ToolStrategy"


def test_explicit_strategy_stays() -> None:
    for strategy in (ToolStrategy(Answer), ProviderStrategy(Answer)):
        plan = OutputPlan.from_response_format(strategy)
        active = plan.resolve(plan.strategy, "gpt-5.5")
        assert active is not None
        assert active.strategy is strategy


def test_native_request_binds_the_schema_and_no_tools() -> None:
    active = OutputPlan.from_response_format(Answer).resolve(ProviderStrategy(Answer), "m")

    assert active is not None
    assert active.tools == ()
    assert set(active.model_kwargs) == {"response_format"}
    assert active.tool_choice() is None


def test_request_by_tools_binds_them_and_forces_a_call() -> None:
    active = OutputPlan.from_response_format(ToolStrategy(Answer)).resolve(
        ToolStrategy(Answer), "m"
    )

    assert active is not None
    assert [getattr(tool, "name", None) for tool in active.tools] == ["Answer"]
    assert active.tool_choice() == "any"
    assert active.tool_choice("auto") == "auto"
    assert not active.model_kwargs


def test_middleware_may_narrow_a_union() -> None:
    plan = OutputPlan.from_response_format(ToolStrategy(Answer | Score))
    narrowed = plan.resolve(ToolStrategy(Score, max_retries=9), "m")

    assert narrowed is not None
    assert [spec.name for spec in narrowed.specs] == ["Score"]
    assert narrowed.strategy.max_retries == 9


def test_narrowed_schema_keeps_the_name_it_has_in_the_union() -> None:
    def namesake() -> type[BaseModel]:
        class Answer(BaseModel):
            number: int

        return Answer

    other = namesake()
    active = OutputPlan.from_response_format(ToolStrategy[Any](Answer | other)).resolve(
        ToolStrategy(other), "m"
    )

    assert active is not None
    assert [spec.name for spec in active.specs] == ["Answer_2"]


def test_untitled_json_schema_keeps_its_name_from_request_to_request() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    plan = OutputPlan.from_response_format(schema)
    again = plan.resolve(ToolStrategy[Any](dict(schema)), "m")

    assert again is not None
    assert [spec.name for spec in again.specs] == list(plan.bindings)


@pytest.mark.parametrize("given", [None, Answer, ProviderStrategy(Answer), ToolStrategy(Answer)])
def test_tool_for_a_schema_that_was_not_declared_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="'Score' was not declared when the agent was built"):
        OutputPlan.from_response_format(given).resolve(ToolStrategy(Score), "m")


def test_middleware_may_ask_for_any_schema_natively() -> None:
    active = OutputPlan.from_response_format(None).resolve(ProviderStrategy(Score), "m")

    assert kind(active) == "ProviderStrategy"


def test_nothing_is_due_without_a_response_format() -> None:
    plan = OutputPlan.from_response_format(None)

    assert plan.resolve(None, "m") is None
    assert OutputPlan.from_response_format(Answer).resolve(None, "m") is None


def test_output_tool_may_not_hide_an_ordinary_one() -> None:
    plan = OutputPlan.from_response_format(Answer)
    plan.check_tool_names(["other"])

    with pytest.raises(ConfigurationError, match="'Answer' has the same name"):
        plan.check_tool_names(["other", "Answer"])


def test_broken_schema_is_refused_when_the_plan_is_made() -> None:
    with pytest.raises(ConfigurationError, match=r"#/properties/a/\$ref"):
        OutputPlan.from_response_format({"title": "X", "properties": {"a": {"$ref": "#/$defs/b"}}})


def test_plan_gives_the_schemas_as_they_were_given() -> None:
    assert OutputPlan.from_response_format(Answer | Score).schemas == [Answer, Score]
