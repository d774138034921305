"""A model bound to a schema: ask, read, and either raise or report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda

from ....state.errors import ChatModelError, ConfigurationError, StructuredOutputError
from .structured import Method, OutputSchema


def structured_call(
    model: BaseChatModel,
    output: OutputSchema,
    *,
    method: Method,
    include_raw: bool,
    settings: Mapping[str, Any],
) -> Runnable[LanguageModelInput, Any]:
    """Return a runnable whose answers are instances of the schema.

    Args:
        model: Who is asked.
        output: The schema.
        method: How to ask.
        include_raw: Return ``raw``, ``parsed`` and ``parsing_error`` instead of raising.
        settings: More settings for every call.

    Raises:
        ConfigurationError: The method is unknown.
    """
    asked = _asked(model, output, method=method, settings=settings)

    def read(message: AIMessage) -> Any:
        return output.read(message, method)

    def read_or_report(message: AIMessage) -> dict[str, Any]:
        try:
            return {"raw": message, "parsed": read(message), "parsing_error": None}
        except (StructuredOutputError, ChatModelError) as exc:
            return {"raw": message, "parsed": None, "parsing_error": exc}

    return asked | RunnableLambda(read_or_report if include_raw else read)


def _asked(
    model: BaseChatModel,
    output: OutputSchema,
    *,
    method: Method,
    settings: Mapping[str, Any],
) -> Runnable[LanguageModelInput, AIMessage]:
    traced = {
        "kwargs": {"method": method, "strict": output.strict},
        "schema": output.source,
    }
    if method == "function_calling":
        function: dict[str, Any] = {
            "name": output.name,
            "description": output.description,
            "parameters": output.json_schema,
        }
        if output.strict is not None:
            function["strict"] = output.strict
        return model.bind_tools(
            [{"type": "function", "function": function}],
            tool_choice=output.name,
            ls_structured_output_format=traced,
            **settings,
        )
    if method == "json_schema":
        response_format = output.response_format()
    elif method == "json_mode":
        response_format = {"type": "json_object"}
    else:
        msg = (
            f"Unknown method {method!r} for structured output. "
            "Use 'json_schema', 'json_mode' or 'function_calling'."
        )
        raise ConfigurationError(msg)
    return model.bind(
        response_format=response_format, ls_structured_output_format=traced, **settings
    )
