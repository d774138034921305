"""How a structured answer is asked for: by a tool, by the provider's own means, or by the better."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, Generic, Literal, TypeVar, cast

from ...state.errors import ConfigurationError
from .json_value import is_object
from .names import unique_names
from .schema import SchemaSpec
from .variants import unpacked, variants

SchemaT = TypeVar("SchemaT")

ErrorHandling = (
    bool | str | type[Exception] | tuple[type[Exception], ...] | Callable[[Exception], str]
)
"""What is done about a wrong answer; see :class:`ToolStrategy`."""

OnFailure = Literal["raise", "reason"]
"""What follows when no attempt is left: an error, or a run that ends with a reason."""

DEFAULT_MAX_RETRIES = 2


@dataclass(init=False)
class ToolStrategy(Generic[SchemaT]):
    """Offers each schema as a tool; the model answers by calling one of them."""

    schema: type[SchemaT] | UnionType | dict[str, Any]
    """The schema as it was given, a union of them, or a JSON schema with ``oneOf``."""
    schema_specs: list[SchemaSpec[Any]] = field(compare=False, repr=False)
    """One for each alternative, in order."""
    tool_message_content: str | None
    """Result of the output tool in the history; None repeats the answer."""
    handle_errors: ErrorHandling
    """What is done about a wrong answer.

    True tells the model what is wrong and asks again. A text is told instead. Exception types,
    one or a tuple, limit this to errors of those types, the error itself or what caused it. A
    callable gets the error and gives the text. False raises at once.
    """
    max_retries: int
    """How many times the model is asked again in one run, for whatever reason."""
    on_failure: OnFailure
    """``raise`` an error when no attempt is left, or end the run with
    ``exit_reason="structured_output_failed"``."""

    def __init__(
        self,
        schema: type[SchemaT] | UnionType | dict[str, Any],
        *,
        tool_message_content: str | None = None,
        handle_errors: ErrorHandling = True,
        max_retries: int = DEFAULT_MAX_RETRIES,
        on_failure: OnFailure = "raise",
    ) -> None:
        """Read the schemas and check the settings.

        Raises:
            ConfigurationError: A schema or a setting cannot be used.
        """
        _check_limits(max_retries, on_failure)
        _check_handling(handle_errors)
        _check_content(tool_message_content)
        self.schema = schema
        self.tool_message_content = tool_message_content
        self.handle_errors = handle_errors
        self.max_retries = max_retries
        self.on_failure = on_failure
        specs = [SchemaSpec[Any](alternative) for alternative in variants(schema)]
        names = unique_names(spec.name for spec in specs)
        self.schema_specs = [
            spec if spec.name == name else SchemaSpec[Any](spec.schema, name=name)
            for spec, name in zip(specs, names, strict=True)
        ]


@dataclass(init=False)
class ProviderStrategy(Generic[SchemaT]):
    """Sends the schema to the provider, which holds the model's whole reply to it."""

    schema: type[SchemaT] | UnionType | dict[str, Any]
    """The schema as it was given."""
    schema_spec: SchemaSpec[SchemaT] = field(compare=False, repr=False)
    max_retries: int
    """How many times the model is asked again in one run, for whatever reason."""
    on_failure: OnFailure
    """As in :class:`ToolStrategy`."""

    def __init__(
        self,
        schema: type[SchemaT] | UnionType | dict[str, Any],
        *,
        strict: bool | None = None,
        max_retries: int = DEFAULT_MAX_RETRIES,
        on_failure: OnFailure = "raise",
    ) -> None:
        """Read the schema and check the settings.

        Args:
            schema: The schema; a union is offered as one field that takes each of its members.
            strict: Whether to ask the provider for its strict mode.
            max_retries: How many times the model is asked again.
            on_failure: What follows when no attempt is left.

        Raises:
            ConfigurationError: The schema or a setting cannot be used.
        """
        _check_limits(max_retries, on_failure)
        self.schema = schema
        if strict is None:
            strict = _strict_in_envelope(schema)
        self.schema_spec = SchemaSpec(cast("type[SchemaT]", schema), strict=strict)
        self.max_retries = max_retries
        self.on_failure = on_failure

    @property
    def strict(self) -> bool | None:
        """Whether the provider is asked for its strict mode."""
        return self.schema_spec.strict

    def to_model_kwargs(self) -> dict[str, Any]:
        """Give the keyword arguments to bind to a chat model.

        Source: OpenAI API reference, field ``response_format``, 2026; the chat models of
        LangChain translate it for their providers.
        """
        native: dict[str, Any] = {
            "name": self.schema_spec.name,
            "schema": self.schema_spec.json_schema,
        }
        if self.schema_spec.strict:
            native["strict"] = True
        return {"response_format": {"type": "json_schema", "json_schema": native}}


@dataclass(init=False)
class AutoStrategy(Generic[SchemaT]):
    """Lets the model decide: natively where it can, else by tools. A union always by tools."""

    schema: type[SchemaT] | UnionType | dict[str, Any]
    """The schema as it was given."""
    max_retries: int
    """How many times the model is asked again in one run, for whatever reason."""
    on_failure: OnFailure
    """As in :class:`ToolStrategy`."""

    def __init__(
        self,
        schema: type[SchemaT] | UnionType | dict[str, Any],
        *,
        max_retries: int = DEFAULT_MAX_RETRIES,
        on_failure: OnFailure = "raise",
    ) -> None:
        """Check the settings; the schema is read when a strategy is chosen."""
        _check_limits(max_retries, on_failure)
        self.schema = schema
        self.max_retries = max_retries
        self.on_failure = on_failure

    def as_tools(self) -> ToolStrategy[SchemaT]:
        """Give the strategy for models without native structured output."""
        return ToolStrategy(self.schema, max_retries=self.max_retries, on_failure=self.on_failure)

    def as_native(self) -> ProviderStrategy[SchemaT]:
        """Give the strategy for models with native structured output."""
        return ProviderStrategy(
            self.schema, max_retries=self.max_retries, on_failure=self.on_failure
        )


ResponseFormat = ToolStrategy[SchemaT] | ProviderStrategy[SchemaT] | AutoStrategy[SchemaT]
"""A strategy of any kind."""


def as_strategy(response_format: Any) -> ResponseFormat[Any]:
    """Give the strategy that a response format stands for; a bare schema lets the model decide.

    Strategies of LangChain are recognised by their shape, so that middleware written for it can
    set them.

    Raises:
        ConfigurationError: It is neither a strategy nor a schema.
    """
    if isinstance(response_format, ToolStrategy | ProviderStrategy | AutoStrategy):
        return cast("ResponseFormat[Any]", response_format)
    kind = type(response_format).__name__
    if not isinstance(response_format, type) and hasattr(response_format, "schema"):
        schema = response_format.schema
        if kind == "ToolStrategy":
            return ToolStrategy(
                schema,
                tool_message_content=response_format.tool_message_content,
                handle_errors=response_format.handle_errors,
            )
        if kind == "ProviderStrategy":
            return ProviderStrategy(schema, strict=response_format.schema_spec.strict)
        if kind == "AutoStrategy":
            return AutoStrategy(schema)
    return AutoStrategy(response_format)


def _strict_in_envelope(schema: object) -> bool | None:
    if is_object(schema) and unpacked(schema) is not schema:
        strict = schema.get("json_schema", schema).get("strict")
        return strict if isinstance(strict, bool) else None
    return None


def _check_limits(max_retries: object, on_failure: object) -> None:
    if not isinstance(max_retries, int) or isinstance(max_retries, bool) or max_retries < 0:
        msg = f"max_retries is {max_retries!r}; give 0 or more, 0 to ask only once."
        raise ConfigurationError(msg)
    if on_failure not in ("raise", "reason"):
        msg = f"on_failure is {on_failure!r}; give 'raise' or 'reason'."
        raise ConfigurationError(msg)


def _check_content(content: object) -> None:
    if content is not None and not isinstance(content, str):
        msg = f"tool_message_content is {content!r}; give a text, or None to repeat the answer."
        raise ConfigurationError(msg)


def _check_handling(handle_errors: object) -> None:
    if inspect.iscoroutinefunction(handle_errors):
        msg = f"handle_errors is the coroutine function {handle_errors!r}; give a plain one."
        raise ConfigurationError(msg)
    if isinstance(handle_errors, tuple | type):
        types = cast("object", handle_errors)
        each = cast("tuple[object, ...]", types) if isinstance(types, tuple) else (types,)
        usable = all(map(_is_exception_type, each))
    else:
        usable = isinstance(handle_errors, bool | str) or callable(handle_errors)
    if not usable:
        msg = (
            f"handle_errors is {handle_errors!r}; give True, False, a text, one or several "
            "exception types, or a function from the error to a text."
        )
        raise ConfigurationError(msg)


def _is_exception_type(item: object) -> bool:
    return isinstance(item, type) and issubclass(item, Exception)
