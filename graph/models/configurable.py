"""A chat model whose settings are chosen when it is called.

Source: the behaviour of LangChain 1.5.2's configurable models.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Self, cast

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from typing_extensions import override

Step = tuple[str, tuple[Any, ...], dict[str, Any]]
"""A method of chat models with its arguments, to be called once the model is known."""


class ConfigurableChatModel(Runnable[LanguageModelInput, Any]):
    """Stands for the chat model that ``config["configurable"]`` asks for.

    Args:
        build: Makes the model from its settings.
        defaults: Settings that hold unless the config changes them.
        fields: Settings the config may change, or ``"any"``.
        prefix: What the config's keys begin with, before an underscore.
        steps: Methods to call on the model once it is made.
    """

    def __init__(
        self,
        *,
        build: Callable[..., BaseChatModel],
        defaults: Mapping[str, Any],
        fields: Literal["any"] | Sequence[str],
        prefix: str = "",
        steps: Sequence[Step] = (),
    ) -> None:
        self._build = build
        self._defaults = dict(defaults)
        self._fields = fields
        self._prefix = prefix if not prefix or prefix.endswith("_") else f"{prefix}_"
        self._steps = tuple(steps)

    def model_for(self, config: RunnableConfig | None = None) -> Runnable[LanguageModelInput, Any]:
        """Return the model a config asks for.

        Args:
            config: The run's config; its ``configurable`` is read.

        Raises:
            ConfigurationError: The settings name no model that can be built.
        """
        model: Any = self._build(**{**self._defaults, **self._chosen(config)})
        for name, args, kwargs in self._steps:
            model = getattr(model, name)(*args, **kwargs)
        return cast("Runnable[LanguageModelInput, Any]", model)

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Self:
        """Return this model with tools, bound once it is known.

        Args:
            tools: As in ``BaseChatModel.bind_tools``.
            **kwargs: As there.
        """
        return self._then("bind_tools", (tools,), kwargs)

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Self:
        """Return this model with a schema for its answers, bound once it is known.

        Args:
            schema: As in ``BaseChatModel.with_structured_output``.
            **kwargs: As there.
        """
        return self._then("with_structured_output", (schema,), kwargs)

    @override
    def bind(self, **kwargs: Any) -> Self:
        """Return this model with settings of every call, bound once it is known.

        Args:
            **kwargs: Settings.
        """
        return self._then("bind", (), kwargs)

    @override
    def with_config(self, config: RunnableConfig | None = None, **kwargs: Any) -> Self:
        """Return this model with a config; settings it chooses are fixed now.

        Args:
            config: The config.
            **kwargs: More keys of it.
        """
        whole = ensure_config(cast("RunnableConfig", {**(config or {}), **kwargs}))
        chosen = self._chosen(whole)
        rest = {
            key: value
            for key, value in (whole.get("configurable") or {}).items()
            if key.removeprefix(self._prefix) not in chosen
        }
        kept = {**whole, "configurable": rest}
        fixed = self._then("with_config", (), {"config": kept})
        fixed._defaults = {**self._defaults, **chosen}  # noqa: SLF001  # of the same class
        return fixed

    @override
    def invoke(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        return self.model_for(config).invoke(input, config, **kwargs)

    @override
    async def ainvoke(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        return await self.model_for(config).ainvoke(input, config, **kwargs)

    @override
    def stream(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        yield from self.model_for(config).stream(input, config, **kwargs)

    @override
    async def astream(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        async for piece in self.model_for(config).astream(input, config, **kwargs):
            yield piece

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and "model" in self._defaults:
            return getattr(self.model_for(), name)
        raise AttributeError(name)

    def _chosen(self, config: RunnableConfig | None) -> dict[str, Any]:
        given = {
            key.removeprefix(self._prefix): value
            for key, value in (ensure_config(config).get("configurable") or {}).items()
            if key.startswith(self._prefix) and not key.startswith("__")
        }
        if self._fields == "any":
            return given if self._prefix else {k: v for k, v in given.items() if k not in _RUN_KEYS}
        return {key: value for key, value in given.items() if key in self._fields}

    def _then(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Self:
        return type(self)(
            build=self._build,
            defaults=self._defaults,
            fields=self._fields,
            prefix=self._prefix,
            steps=(*self._steps, (name, args, kwargs)),
        )


# Keys langgraph puts into every config beside the user's.
_RUN_KEYS = frozenset({"checkpoint_id", "checkpoint_map", "checkpoint_ns", "thread_id"})
