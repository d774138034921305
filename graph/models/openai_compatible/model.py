"""The chat model itself: langchain-core's interface over the exchange."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from inspect import signature
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from typing_extensions import override

from ....tools.calls import run_inline
from .exchange import Exchange, Limits
from .fields import ChatModelSettings
from .inline import iterate_inline
from .ports import Port
from .retry import RetryPolicy
from .structured import Method, OutputSchema
from .structured_call import structured_call
from .tools import ToolLike, wire_tool_choice, wire_tools
from .wire import chat_request, hidden_in, timeout_of


class OpenAICompatibleChatModel(ChatModelSettings):
    """A chat model behind any endpoint that speaks OpenAI's chat completions.

    Strict where others guess: a call that was cut off is never a tool call, a stream that broke
    is an error, and no error, dump or log shows the key.

    Name a ``provider`` from the table, or give the ``base_url`` of any other server.

    Raises:
        ConfigurationError: A setting is wrong, unknown or missing.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)

    @override
    def bind_tools(
        self,
        tools: Sequence[ToolLike],
        *,
        tool_choice: str | bool | Mapping[str, Any] | None = None,
        strict: bool | None = None,
        parallel_tool_calls: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return this model with tools to call.

        Args:
            tools: Tools, functions, classes or dicts in OpenAI's form.
            tool_choice: ``"auto"``, ``"none"``, ``"required"`` or ``"any"``, a bool, the name
                of a tool, or a dict in OpenAI's form.
            strict: Ask the provider to hold arguments to their schema.
            parallel_tool_calls: Allow, or forbid, several calls in one answer.
            **kwargs: More settings for every call.

        Raises:
            ToolDefinitionError: A tool cannot be offered.
            ConfigurationError: The choice names no tool.
        """
        wired = wire_tools(tools, strict=strict)
        choice = wire_tool_choice(tool_choice, wired, required=self.provider_habits.required_choice)
        if choice is not None:
            kwargs["tool_choice"] = choice
        if parallel_tool_calls is not None:
            kwargs["parallel_tool_calls"] = parallel_tool_calls
        return self.bind(tools=wired, **kwargs)

    @override
    def with_structured_output(
        self,
        schema: Mapping[str, Any] | type,
        *,
        method: Method | None = None,
        include_raw: bool = False,
        strict: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, Any]:
        """Return a runnable whose answers are instances of a schema, or errors.

        Args:
            schema: A pydantic or TypedDict class, a JSON schema with a title, or an OpenAI tool.
            method: ``json_schema`` (the provider enforces it), ``json_mode`` (it promises JSON;
                describe the schema in the prompt) or ``function_calling``. By default what the
                model's profile says.
            include_raw: Return a dict of ``raw``, ``parsed`` and ``parsing_error`` instead of
                raising.
            strict: Ask the provider to hold the answer to the schema.
            **kwargs: More settings for every call.

        Raises:
            ConfigurationError: No schema can be made of it, or the method is unknown.
        """
        if method is None:
            enforced = self.profile is not None and self.profile.get("structured_output")
            method = "json_schema" if enforced else "function_calling"
        output = OutputSchema.of(schema, strict=strict)
        return structured_call(
            self, output, method=method, include_raw=include_raw, settings=kwargs
        )

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return run_inline(
            self._whole(self.connections.blocking(), messages, stop, kwargs), "the chat model"
        )

    @override
    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await self._whole(await self.connections.awaiting(), messages, stop, kwargs)

    @override
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        yield from iterate_inline(
            self._pieces(self.connections.blocking(), messages, stop, kwargs), "the chat model"
        )

    @override
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        port = await self.connections.awaiting()
        async for piece in self._pieces(port, messages, stop, kwargs):
            yield piece

    # langchain-core looks at both signatures at every call; kept, that takes it no time.
    _generate.__dict__["__signature__"] = signature(_generate)
    _agenerate.__dict__["__signature__"] = signature(_agenerate)

    def close(self) -> None:
        """Close the connections of blocking calls; the next call opens new ones."""
        self.connections.close()

    async def aclose(self) -> None:
        """Close the connections of blocking calls and of the running event loop."""
        await self.connections.aclose()

    async def _whole(
        self,
        port: Port,
        messages: Sequence[BaseMessage],
        stop: list[str] | None,
        settings: Mapping[str, Any],
    ) -> ChatResult:
        request = chat_request(self, messages, stop, settings, stream=False)
        return ChatResult(generations=list(await self._exchange(port, settings).whole(request)))

    async def _pieces(
        self,
        port: Port,
        messages: Sequence[BaseMessage],
        stop: list[str] | None,
        settings: Mapping[str, Any],
    ) -> AsyncGenerator[ChatGenerationChunk, None]:
        request = chat_request(self, messages, stop, settings, stream=True)
        async for chunk in self._exchange(port, settings).chunks(request):
            yield ChatGenerationChunk(message=chunk)

    def _exchange(self, port: Port, settings: Mapping[str, Any]) -> Exchange:
        return Exchange(
            port,
            limits=Limits(
                timeout_s=timeout_of(self, settings),
                total_timeout_s=self.total_timeout,
                max_event_bytes=self.max_event_bytes,
                max_answer_bytes=self.max_answer_bytes,
            ),
            retries=RetryPolicy(self.max_retries, self.max_retry_wait),
            provider=self.provider,
            hidden=hidden_in(self, settings),
        )
