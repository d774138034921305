from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel

from interlock.graph.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from interlock.graph.structured_output.strategies import as_strategy
from interlock.state.errors import ConfigurationError


class Answer(BaseModel):
    text: str


class Other(BaseModel):
    text: str


def namesake() -> type[BaseModel]:
    class Answer(BaseModel):
        number: int

    return Answer


async def later(error: Exception) -> str:
    return str(error)


def test_union_gives_one_spec_each() -> None:
    specs = ToolStrategy(Answer | Other).schema_specs

    assert [spec.schema for spec in specs] == [Answer, Other]


def test_schemas_of_one_name_get_tools_of_two() -> None:
    specs = ToolStrategy[Any](Answer | namesake()).schema_specs

    assert [spec.name for spec in specs] == ["Answer", "Answer_2"]
    assert [spec.title for spec in specs] == ["Answer", "Answer"]


@pytest.mark.parametrize(
    "settings",
    [{"max_retries": -1}, {"max_retries": True}, {"max_retries": 1.5}, {"on_failure": "ignore"}],
)
@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy, AutoStrategy])
def test_wrong_setting_is_refused(strategy: Any, settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(settings))):
        strategy(Answer, **settings)


@pytest.mark.parametrize("handling", [3, None, int, (ValueError, int), [ValueError], later])
def test_wrong_error_handling_is_refused(handling: Any) -> None:
    with pytest.raises(ConfigurationError, match="handle_errors"):
        ToolStrategy(Answer, handle_errors=handling)


def test_wrong_message_content_is_refused() -> None:
    content: Any = 3
    with pytest.raises(ConfigurationError, match="tool_message_content"):
        ToolStrategy(Answer, tool_message_content=content)


@pytest.mark.parametrize(("strict", "sent"), [(True, {"strict": True}), (False, {}), (None, {})])
def test_strictness_is_sent_to_the_provider(strict: bool | None, sent: dict[str, bool]) -> None:
    native = ProviderStrategy(Answer, strict=strict).to_model_kwargs()["response_format"]

    assert native["type"] == "json_schema"
    assert native["json_schema"] == {
        "name": "Answer",
        "schema": Answer.model_json_schema(),
        **sent,
    }


def test_strictness_in_a_providers_envelope_is_kept() -> None:
    envelope = {
        "type": "json_schema",
        "json_schema": {"schema": {"type": "object"}, "strict": True},
    }

    assert ProviderStrategy[Any](envelope).schema_spec.strict


def test_bare_schema_lets_the_model_decide() -> None:
    strategy = as_strategy(Answer)

    assert isinstance(strategy, AutoStrategy)
    assert strategy.schema is Answer


def test_auto_hands_its_settings_on() -> None:
    auto = AutoStrategy(Answer, max_retries=7, on_failure="reason")

    for strategy in (auto.as_tools(), auto.as_native()):
        assert (strategy.max_retries, strategy.on_failure) == (7, "reason")


def test_strategies_with_the_same_settings_are_equal() -> None:
    assert ToolStrategy(Answer) == ToolStrategy(Answer)
    assert ToolStrategy(Answer) != ToolStrategy(Answer, max_retries=0)


def test_strategy_of_another_library_is_recognised_by_its_shape() -> None:
    @dataclass
    class ForeignSpec:
        strict: bool = True

    @dataclass
    class ForeignToolStrategy:
        schema: Any
        tool_message_content: str = "taken"
        handle_errors: Any = "wrong"
        schema_spec: Any = field(default_factory=ForeignSpec)

    def foreign(name: str) -> Any:
        return type(name, (ForeignToolStrategy,), {})(Answer)

    assert as_strategy(foreign("ToolStrategy")) == ToolStrategy(
        Answer, tool_message_content="taken", handle_errors="wrong"
    )
    native = as_strategy(foreign("ProviderStrategy"))
    assert isinstance(native, ProviderStrategy)
    assert native.schema_spec.strict
    assert as_strategy(foreign("AutoStrategy")) == AutoStrategy(Answer)
