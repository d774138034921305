"""The tools of an agent: any accepted notation made into one checked set."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel
from pydantic.errors import PydanticUserError

from ..state.errors import ToolDefinitionError
from .decorator import tool as make_tool

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""Names that every provider accepts."""

ProviderTool = dict[str, Any]
"""A tool that the provider runs: bound to the model as it is, never executed here."""

ToolLike = BaseTool | Callable[..., Any] | ProviderTool


@dataclass(frozen=True)
class ToolSet:
    """Checked tools by name, in order of registration."""

    by_name: Mapping[str, BaseTool] = field(default_factory=dict[str, BaseTool])
    """Tools that the agent executes."""
    provider: Sequence[ProviderTool] = ()
    """Tools that the provider executes."""

    @property
    def offered(self) -> list[BaseTool | ProviderTool]:
        """What the model is told about."""
        return [*self.by_name.values(), *self.provider]


def collect_tools(sources: Iterable[tuple[str, Sequence[ToolLike]]]) -> ToolSet:
    """One checked set of tools from several owners.

    Args:
        sources: Pairs of an owner's name and its tools, in order. An owner is a middleware or
            the agent; the name is used in errors.

    Raises:
        ToolDefinitionError: A name is unusable or used twice, a description is missing, or the
            arguments have no JSON schema.
    """
    by_name: dict[str, BaseTool] = {}
    owners: dict[str, str] = {}
    provider: list[ProviderTool] = []
    for owner, tools in sources:
        for entry in tools:
            if isinstance(entry, dict):
                provider.append(cast("ProviderTool", entry))
                continue
            tool = as_tool(entry)
            if by_name.get(tool.name) is tool:
                continue
            if tool.name in owners:
                msg = (
                    f"Two tools are named {tool.name!r}: one of {owners[tool.name]}, one of "
                    f"{owner}; rename one of them."
                )
                raise ToolDefinitionError(msg, tool_name=tool.name)
            check_tool(tool)
            by_name[tool.name] = tool
            owners[tool.name] = owner
    return ToolSet(by_name, tuple(provider))


def as_tool(entry: Any) -> BaseTool:
    """A tool object; a plain function becomes one, described by its docstring.

    Raises:
        ToolDefinitionError: ``entry`` is neither a tool nor a function, or has no docstring.
    """
    if isinstance(entry, BaseTool):
        return entry
    if not callable(entry) or isinstance(entry, type):
        msg = f"{entry!r} is no tool; give a function, a tool object, or a provider's tool as dict."
        raise ToolDefinitionError(msg)
    name = getattr(entry, "__name__", type(entry).__name__)
    try:
        return as_tool(make_tool(entry))
    except (ValueError, TypeError, NameError, PydanticUserError) as error:
        msg = f"Function {name!r} cannot become a tool: {error}"
        raise ToolDefinitionError(msg, tool_name=name) from error


def check_tool(tool: BaseTool) -> None:
    """Refuse a tool that some provider would refuse later.

    Raises:
        ToolDefinitionError: With the tool's name and the rule it breaks.
    """
    if not TOOL_NAME.fullmatch(tool.name):
        msg = (
            f"Tool name {tool.name!r} is refused by providers; use 1 to 64 letters, digits, "
            "'_' or '-'."
        )
        raise ToolDefinitionError(msg, tool_name=tool.name)
    if not tool.description.strip():
        msg = f"Tool {tool.name!r} has no description; write a docstring for the model to read."
        raise ToolDefinitionError(msg, tool_name=tool.name)
    schema = tool.args_schema
    try:
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            # Argument types may refer to classes that were defined after the tool.
            schema.model_rebuild()
        form = convert_to_openai_tool(tool)
    except (PydanticUserError, ValueError, TypeError, NameError) as error:
        msg = f"The arguments of tool {tool.name!r} have no JSON schema: {error}"
        raise ToolDefinitionError(msg, tool_name=tool.name) from error
    _check_parameters(tool, cast("dict[str, Any]", form["function"].get("parameters", {})))


def _check_parameters(tool: BaseTool, parameters: dict[str, Any]) -> None:
    if isinstance(tool, StructuredTool) and not isinstance(tool.args_schema, dict):
        expected = set(getattr(tool.tool_call_schema, "model_fields", {}))
        if expected and not parameters.get("properties"):
            msg = (
                f"Tool {tool.name!r} would be offered without its arguments "
                f"{', '.join(sorted(expected))}; check their types."
            )
            raise ToolDefinitionError(msg, tool_name=tool.name)
