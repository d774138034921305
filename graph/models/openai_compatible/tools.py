"""Tools and the choice among them, as providers read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_function, convert_to_openai_tool

from ....state.errors import ConfigurationError, ToolDefinitionError

ToolLike = Mapping[str, Any] | type | Callable[..., Any] | BaseTool


def wire_tools(tools: Sequence[ToolLike], *, strict: bool | None = None) -> list[dict[str, Any]]:
    """Return tools in OpenAI's form.

    Args:
        tools: Tools, functions, pydantic or TypedDict classes, or dicts in OpenAI's form.
        strict: Ask the provider to hold arguments to the schema.

    Raises:
        ToolDefinitionError: A tool has no readable name or schema, or two share a name.
    """
    wired: list[dict[str, Any]] = []
    names: set[str] = set()
    for tool in tools:
        try:
            form = _wire_tool(tool, strict=strict)
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            msg = (
                f"{tool!r} cannot be offered as a tool: {exc}. "
                "Pass a tool, a function with annotations, a class or an OpenAI tool dict."
            )
            raise ToolDefinitionError(msg) from exc
        name = _name(form)
        if name is not None and name in names:
            msg = f"Two tools are named {name!r}. Rename one."
            raise ToolDefinitionError(msg, tool_name=name)
        names.add(name or "")
        wired.append(form)
    return wired


def wire_tool_choice(
    choice: object, tools: Sequence[Mapping[str, Any]], *, required: str = "required"
) -> str | dict[str, Any] | None:
    """Return the tool choice in OpenAI's form.

    Args:
        choice: ``"auto"``, ``"none"``, ``"required"`` or ``"any"``, True (some tool), False
            (none), the name of a tool, or a dict in OpenAI's form.
        tools: The tools in OpenAI's form.
        required: The provider's word for: call some tool.

    Raises:
        ConfigurationError: It names no tool of these, or has no known form.
    """
    if choice is None:
        return None
    if choice is True or choice in ("any", "required"):
        return required
    if choice is False:
        return "none"
    names = [name for tool in tools if (name := _name(tool)) is not None]
    if isinstance(choice, str):
        return choice if choice in ("auto", "none") else _named(choice, names)
    if isinstance(choice, Mapping):
        given = cast("Mapping[str, Any]", choice)
        if given.get("type") in (None, "function") and (name := _name(given)) is not None:
            return _named(name, names)
        if given.get("type") not in (None, "function"):
            return dict(given)
    msg = (
        f"tool_choice {choice!r} has no known form. "
        "Use 'auto', 'none', 'required', a tool's name or OpenAI's dict."
    )
    raise ConfigurationError(msg)


def _wire_tool(tool: ToolLike, *, strict: bool | None) -> dict[str, Any]:
    form = convert_to_openai_tool(cast("Any", tool), strict=strict)
    function = form.get("function")
    if strict is not None and isinstance(function, dict) and "strict" not in function:
        # A dict in OpenAI's form went through untouched.
        form = {
            **form,
            "function": convert_to_openai_function(cast("Any", function), strict=strict),
        }
    return form


def _named(name: object, names: Sequence[str]) -> dict[str, Any]:
    if name not in names:
        msg = (
            f"tool_choice names {name!r}, which is none of the tools {list(names)}. "
            "Name one of them, or use 'auto', 'none' or 'required'."
        )
        raise ConfigurationError(msg)
    return {"type": "function", "function": {"name": name}}


def _name(tool: Mapping[str, Any]) -> str | None:
    function = tool.get("function")
    inner = cast("Mapping[str, Any]", function) if isinstance(function, Mapping) else tool
    name = inner.get("name")
    return name if isinstance(name, str) else None
