"""Everything an agent needs to know about its structured answer, worked out when it is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...state.errors import ConfigurationError
from .active import ActiveOutput
from .bindings import OutputToolBinding
from .schema import SchemaSpec
from .strategies import AutoStrategy, ProviderStrategy, ResponseFormat, ToolStrategy, as_strategy
from .support import supports_provider_strategy


@dataclass(frozen=True)
class OutputPlan:
    """The response format of an agent, read and checked."""

    strategy: ResponseFormat[Any] | None = None
    """The strategy that the agent was built with; None without a response format."""
    bindings: Mapping[str, OutputToolBinding[Any]] = field(
        default_factory=dict[str, OutputToolBinding[Any]]
    )
    """The output tools by name."""
    given: Any = None
    """The response format as the user gave it."""

    @classmethod
    def from_response_format(cls, response_format: Any) -> OutputPlan:
        """Read what a user gave as ``response_format``: a strategy, a schema or None.

        Raises:
            ConfigurationError: It cannot be used; the message says where.
        """
        if response_format is None:
            return cls()
        strategy = as_strategy(response_format)
        bindings: dict[str, OutputToolBinding[Any]] = {
            spec.name: OutputToolBinding.from_schema_spec(spec) for spec in _specs(strategy)
        }
        return cls(strategy, bindings, response_format)

    @property
    def schemas(self) -> list[Any]:
        """The schemas, as they were given; answers are instances of those that are types."""
        return [binding.schema for binding in self.bindings.values()]

    def check_tool_names(self, names: Iterable[str]) -> None:
        """Refuse ordinary tools with the name of an output tool.

        Raises:
            ConfigurationError: A name is taken.
        """
        for name in names:
            if name in self.bindings:
                msg = (
                    f"The tool {name!r} has the same name as the output tool of the response "
                    "format; rename the tool or the schema."
                )
                raise ConfigurationError(msg)

    def resolve(
        self,
        response_format: Any,
        model: Any,
        tools: Sequence[Any] = (),
        *,
        supports: Callable[..., bool] = supports_provider_strategy,
    ) -> ActiveOutput | None:
        """Choose the strategy for one request.

        Args:
            response_format: That of the request, which middleware may have changed: the plan's
                own strategy, a part of its union, another strategy, a schema, or None.
            model: The model of the request.
            tools: Its ordinary tools.
            supports: Tells whether the model gives structured answers natively beside the tools.

        Raises:
            ConfigurationError: A schema is to be offered as a tool that the agent was not built
                with, or the format cannot be used.
        """
        if response_format is None:
            return None
        if response_format is self.given or response_format is self.strategy:
            return self._own(model, tools, supports)
        strategy = as_strategy(response_format)
        if isinstance(strategy, AutoStrategy):
            by_tools = strategy.as_tools()
            if len(by_tools.schema_specs) > 1 or not supports(model, tools=tools):
                return self._by_tools(by_tools)
            strategy = strategy.as_native()
        if isinstance(strategy, ProviderStrategy):
            return self._native(strategy)
        return self._by_tools(strategy)

    def _own(
        self, model: Any, tools: Sequence[Any], supports: Callable[..., bool]
    ) -> ActiveOutput | None:
        if isinstance(self.strategy, ProviderStrategy):
            return self._own_native
        if isinstance(self.strategy, ToolStrategy) or len(self.bindings) > 1:
            return self._own_by_tools
        return self._own_native if supports(model, tools=tools) else self._own_by_tools

    @cached_property
    def _own_native(self) -> ActiveOutput | None:
        strategy = self.strategy
        if isinstance(strategy, AutoStrategy):
            strategy = strategy.as_native()
        return self._native(strategy) if isinstance(strategy, ProviderStrategy) else None

    @cached_property
    def _own_by_tools(self) -> ActiveOutput | None:
        strategy = self.strategy
        if isinstance(strategy, AutoStrategy):
            strategy = strategy.as_tools()
        return self._by_tools(strategy) if isinstance(strategy, ToolStrategy) else None

    def _native(self, strategy: ProviderStrategy[Any]) -> ActiveOutput:
        specs = (strategy.schema_spec,)
        return ActiveOutput(strategy, specs, (), strategy.to_model_kwargs(), self.bindings.keys())

    def _by_tools(self, strategy: ToolStrategy[Any]) -> ActiveOutput:
        chosen = [self._binding_for(spec) for spec in strategy.schema_specs]
        specs = tuple(binding.spec for binding in chosen)
        tools = tuple(binding.offered for binding in chosen)
        return ActiveOutput(strategy, specs, tools, {}, self.bindings.keys())

    def _binding_for(self, spec: SchemaSpec[Any]) -> OutputToolBinding[Any]:
        for binding in self.bindings.values():
            if binding.schema is spec.schema or binding.schema == spec.schema:
                return binding
        known = ", ".join(binding.spec.title for binding in self.bindings.values()) or "none"
        msg = (
            f"The schema {spec.title!r} was not declared when the agent was built (declared: "
            f"{known}); name it in the agent's response_format, in a union with the others."
        )
        raise ConfigurationError(msg)


def _specs(strategy: ResponseFormat[Any]) -> list[SchemaSpec[Any]]:
    if isinstance(strategy, AutoStrategy):
        strategy = strategy.as_tools()
    if isinstance(strategy, ProviderStrategy):
        return [strategy.schema_spec]
    return strategy.schema_specs
