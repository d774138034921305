from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field

from interlock.state import State, ToolDefinitionError
from interlock.tools import StateTool, collect_tools, tool


def count(documents: list[str], unit: Literal["words", "lines"] = "words") -> str:
    """Count."""
    return f"{len(documents)} {unit}"


def offered(entry: Any) -> list[str]:
    """The arguments that a model is told about."""
    return list(convert_to_openai_tool(entry)["function"]["parameters"].get("properties", {}))


def test_without_declarations_it_is_langchains_decorator() -> None:
    made = tool(count)
    assert type(made) is StructuredTool
    assert made.invoke({"documents": ["a"], "unit": "lines"}) == "1 lines"
    assert convert_to_openai_tool(made)["function"]["parameters"]["properties"]["unit"]["enum"] == [
        "words",
        "lines",
    ]


@pytest.mark.parametrize("way", ["bare", "named", "async"])
def test_arguments_from_state_are_not_offered(way: str) -> None:
    async def awaited(documents: list[str], unit: str = "words") -> str:
        """Count."""
        return f"{len(documents)} {unit}"

    declare = {"inputs_from_state": {"docs": "documents"}}
    make: Any = tool
    if way == "named":
        made = make("count", **declare)(count)
    else:
        made = make(**declare)(awaited if way == "async" else count)
    assert isinstance(made, StateTool)
    assert offered(made) == ["unit"]
    assert made.name == ("awaited" if way == "async" else "count")


def test_words_beside_a_type_describe_the_argument() -> None:
    @tool
    def search(query: Annotated[str, "What to look for"], limit: int = 3) -> str:
        """Search."""
        return f"{query}{limit}"

    parameters = convert_to_openai_tool(search)["function"]["parameters"]
    assert parameters["properties"]["query"]["description"] == "What to look for"
    assert parameters["required"] == ["query"]


def test_an_argument_schema_of_ones_own_may_offer_them() -> None:
    class Args(BaseModel):
        documents: list[str] = Field(default_factory=list[str])
        unit: str = "words"

    declare: Any = {"inputs_from_state": {"docs": "documents"}}
    assert offered(tool(args_schema=Args, **declare)(count)) == ["documents", "unit"]
    hidden = StateTool(name="count", description="Count.", func=count, args_schema=Args, **declare)
    assert offered(hidden) == ["unit"]
    assert offered(
        StateTool(**{**hidden.__dict__, "args_schema": Args, "offers_inputs": True})
    ) == [
        "documents",
        "unit",
    ]


def test_a_json_schema_hides_them_too() -> None:
    schema = {
        "type": "object",
        "properties": {"documents": {"type": "array"}, "unit": {"type": "string"}},
        "required": ["documents", "unit"],
    }
    declare: Any = {"name": "count", "description": "Count.", "func": count, "args_schema": schema}
    made = StateTool(**declare, inputs_from_state={"docs": "documents"})
    assert offered(made) == ["unit"]
    assert convert_to_openai_tool(made)["function"]["parameters"]["required"] == ["unit"]
    assert schema["required"] == ["documents", "unit"]


@pytest.mark.parametrize("annotation", [State, State | None], ids=["state", "optional"])
def test_the_live_state_is_never_offered(annotation: Any) -> None:
    def note(text: str, state: Any = None) -> str:
        """Note."""
        return f"{text}{state}"

    note.__annotations__["state"] = annotation
    assert offered(tool(note)) == ["text"]
    assert list(collect_tools([("the test", [note])]).by_name) == ["note"]


def test_an_argument_that_the_function_lacks_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match=r"fills 'docs' from 'docs'.*documents, unit"):
        tool(inputs_from_state={"docs": "docs"})(count)


def test_a_pair_of_content_and_artifact_has_no_declared_outputs() -> None:
    with pytest.raises(ToolDefinitionError, match="it returns content and artifact"):
        tool(response_format="content_and_artifact", outputs_to_state={"docs": {}})(count)
    reads: Any = {"inputs_from_state": {"docs": "documents"}}
    assert offered(tool(response_format="content_and_artifact", **reads)(count)) == ["unit"]


def test_a_declaration_that_cannot_be_used_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="'count': outputs_to_state"):
        tool(outputs_to_state={"docs": "x"})(count)


async def _awaited() -> str:
    return "x"


@pytest.mark.parametrize(
    ("functions", "why"),
    [
        ({}, "has no function"),
        ({"func": _awaited}, "give a def function"),
        ({"coroutine": count}, "give an async def function"),
        ({"func": 7}, "func of tool 'count' is 7"),
    ],
    ids=range(4),
)
def test_a_tool_needs_functions_of_the_right_kind(functions: Any, why: str) -> None:
    with pytest.raises(ToolDefinitionError, match=why):
        StateTool(name="count", description="Count.", args_schema={"type": "object"}, **functions)


def test_a_tool_of_a_single_text_takes_nothing_from_the_state() -> None:
    def shout(text: str) -> str:
        """Shout."""
        return text.upper()

    with pytest.raises(ToolDefinitionError, match="'shout' is no function with named arguments"):
        tool(infer_schema=False, outputs_to_state={"docs": {}})(shout)
