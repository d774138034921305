"""The chat model: langchain-core's interface over the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr
from typing_extensions import override

from ....state.errors import ConfigurationError
from ....state.model_errors import ChatModelRequestError
from ..openai_compatible.structured import OutputSchema
from ..openai_compatible.structured_call import structured_call
from ..openai_compatible.tools import ToolLike, wire_tool_choice, wire_tools
from .answer import Answer, read_answer
from .conversation import Conversation, clean, read_conversation
from .decision import Decision, decide
from .engine_files import engine_folder
from .pool import WorkerPool
from .reply import reply
from .settings import EmbeddedSettings
from .tool_set import EngineTool, engine_tools, tools_json
from .worker import Worker, engine_command


@dataclass(frozen=True)
class _Engine:
    """What a worker is started with. The engine reads both once, at its start."""

    tools: str
    facts: str


class EmbeddedChatModel(EmbeddedSettings):
    """A tool-calling model that runs here, offline, from an installed wheel; it needs no key.

    It picks tools and fills their arguments; **it writes no text of its own**. So a reply is

    - the tool calls it chose, or
    - once they are answered, the results: one as it is, several as ``name: result`` lines, or
    - where no tool fits, the engine's own one-line reasoning.

    Without tools and without results there is nothing it could say, and a call is an error.
    ``response_metadata`` has its ``confidence`` (0 to 1, calibrated) and ``reasoning``, and calls
    that were withheld as ``withheld_calls`` with ``withheld_because``: those it is unsure of, that
    the request negates, or whose arguments are not in the request.

    It reads little: about 256 tokens at a time, English above all, and of a system prompt only
    facts, one per line: ``date: 2026-12-01 Tue 10:00`` (without it, "tomorrow" means nothing),
    ``locale``, ``device``, ``battery``, ``network``, ``location``, ``user``, ``assistant``.
    Results are cut to 400 characters for it, never for the reader. Of many tools it
    looks up the likeliest few for each request. Decoding is greedy, so the same history gives the
    same reply, and sampling settings change nothing.

    ``tool_choice`` is followed: a named tool is the only one offered, and where some call is due a
    withheld one is made after all, or, after results, one of a tool not called yet in this turn.
    ``with_structured_output`` and ``ToolStrategy`` extract records this way.

    Each tool set runs in a process of its own; they end with ``close()``, with the program, or
    when the program is killed. Threads and event loops may share the model: requests to one tool
    set wait for each other.

    Raises:
        MissingExtraError: The engine is not installed, or there is none for this platform.
        ConfigurationError: A setting is unknown or wrong.
    """

    _pool: WorkerPool[_Engine, Worker] = PrivateAttr()

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        command = engine_command(engine_folder())
        timeout_s = self.timeout_s

        def start(engine: _Engine) -> Worker:
            return Worker(
                command, {"tools": engine.tools, "facts": engine.facts}, timeout_s=timeout_s
            )

        self._pool = WorkerPool(start, size=self.max_workers)

    def close(self) -> None:
        """End the engine's processes. The next call starts them again."""
        self._pool.close()

    @override
    def bind_tools(
        self,
        tools: Sequence[ToolLike],
        *,
        tool_choice: str | bool | Mapping[str, Any] | None = None,
        parallel_tool_calls: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return this model with tools to call.

        Args:
            tools: Tools, functions, classes or dicts in OpenAI's form.
            tool_choice: ``"auto"``, ``"none"``, ``"required"`` or ``"any"``, a bool, the name
                of a tool, or a dict in OpenAI's form.
            parallel_tool_calls: False keeps only the first call of a reply.
            **kwargs: Settings of providers; they change nothing here.

        Raises:
            ToolDefinitionError: A tool cannot be offered.
            ConfigurationError: There are too many tools, or the choice names none of them.
        """
        wired = wire_tools(tools)
        engine_tools(wired, self.tool_limits)
        choice = wire_tool_choice(tool_choice, wired)
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
        method: Literal["function_calling"] = "function_calling",
        include_raw: bool = False,
        strict: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, Any]:
        """Return a runnable that extracts instances of a schema from text, or raises.

        Args:
            schema: A pydantic or TypedDict class, a JSON schema with a title, or an OpenAI tool.
            method: Only ``"function_calling"``.
            include_raw: Return a dict of ``raw``, ``parsed`` and ``parsing_error`` instead of
                raising.
            strict: Give the schema the form OpenAI's strict mode demands.
            **kwargs: More settings for every call.

        Raises:
            ConfigurationError: No schema can be made of it, or the method is another one.
        """
        if method != "function_calling":
            msg = f"The embedded model has no method {method!r}. Use 'function_calling'."
            raise ConfigurationError(msg)
        output = OutputSchema.of(schema, strict=strict)
        return structured_call(
            self, output, method=method, include_raw=include_raw, settings=kwargs
        )

    # Asynchronous calls take langchain-core's way, a thread: the process is waited for, not polled.
    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if kwargs.get("response_format") is not None:
            msg = (
                "The embedded model has no response_format: it fills schemas as tool calls. "
                "Use with_structured_output or ToolStrategy."
            )
            raise ChatModelRequestError(msg)
        conversation = read_conversation(messages)
        wired: list[Any] = kwargs.get("tools") or []
        tools = engine_tools(wired, self.tool_limits)
        choice = wire_tool_choice(kwargs.get("tool_choice"), wired)
        decision = None
        if tools and choice != "none":
            decision = self._choose(conversation, tools, choice)
        elif not conversation.turn.results:
            msg = (
                "The embedded model was asked without tools, and it writes no text of its own. "
                "Give it tools or a schema, or use another model for text."
            )
            raise ChatModelRequestError(msg)
        one_call = kwargs.get("parallel_tool_calls") is False
        message = reply(conversation, decision, model_name=self.model, one_call=one_call)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _choose(
        self,
        conversation: Conversation,
        tools: Sequence[EngineTool],
        choice: str | dict[str, Any] | None,
    ) -> Decision:
        self.check_request(conversation.turn.request)
        forced, results = choice not in (None, "auto"), conversation.turn.results
        if isinstance(choice, dict):
            named: Any = choice.get("function") or choice
            tools = [tool for tool in tools if tool.name == named.get("name")]
        answer = self._ask(tools, conversation.facts, conversation.inputs(self.earlier_turns))
        decision = decide(answer, conversation, tools, self.rules(forced=forced and not results))
        if forced and results and not decision.calls:
            # The engine holds the turn to be over, but a call is due: as a request of its own.
            called = {result.name for result in results}
            tools = [tool for tool in tools if tool.name not in called] or tools
            answer = self._ask(tools, conversation.facts, [conversation.as_one_request()])
            decision = decide(answer, conversation, tools, self.rules(forced=True))
        return decision

    def _ask(self, tools: Sequence[EngineTool], facts: str, inputs: Sequence[str]) -> Answer:
        with self._pool.lease(_Engine(tools_json(tools), clean(facts))) as worker:
            return read_answer(worker.tell(inputs, max_tokens=self.max_tokens))
