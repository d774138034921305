"""The chat model: langchain-core's interface over the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import (
    BaseChatModel,
    LangSmithParams,
    LanguageModelInput,
    ModelProfile,
)
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import ConfigDict, Field, PrivateAttr, ValidationError
from typing_extensions import override

from ....state.errors import ConfigurationError
from ....state.model_errors import ChatModelContextOverflowError, ChatModelRequestError
from ..openai_compatible.structured import OutputSchema
from ..openai_compatible.structured_call import structured_call
from ..openai_compatible.tools import ToolLike, wire_tool_choice, wire_tools
from .answer import Answer, read_answer
from .conversation import Conversation, clean, read_conversation, token_estimate
from .decision import Decision, Rules, decide
from .engine_files import engine_folder
from .pool import WorkerPool
from .reply import reply
from .tool_set import EngineTool, engine_tools, tools_json
from .worker import Worker, engine_command


@dataclass(frozen=True)
class _Engine:
    """What a worker is started with. The engine reads both once, at its start."""

    tools: str
    facts: str


class EmbeddedChatModel(BaseChatModel):
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
    Results are cut to 400 characters for it, never for the reader. With more than five tools it
    looks up the five likeliest for each request. Decoding is greedy, so the same history gives the
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

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    model: Literal["needle3"] = "needle3"
    """Which model. There is one."""
    strict: bool = True
    """Withhold calls whose arguments the engine found nothing for, or that the request negates."""
    min_confidence: float = Field(default=0.25, ge=0, le=1)
    """Withhold calls the engine is less sure of. On its own acceptance cases it is right in 87 of
    96 with 0.1, which it withholds itself, in 90 with 0.25, in 86 with 0.4."""
    earlier_turns: int = Field(default=1, ge=0, le=3)
    """Turns before the current one that the engine is told, each for two more engine turns.
    Measured on follow-up requests: 13 of 16 right with 0, 14 with 1, 15 with 3; beyond that it
    degrades."""
    max_tools: int = Field(default=32, ge=1)
    """Tools that may be offered. Reading 30 takes the engine some 20 seconds, 120 three minutes."""
    max_input_tokens: int = Field(default=256, ge=1)
    """Longest request, by estimate: the engine's window. What lies before it is misread."""
    max_tokens: int = Field(default=512, ge=1)
    """Longest answer of the engine."""
    max_workers: int = Field(default=4, ge=1)
    """Tool sets that may be loaded at once, about 100 MB each."""
    timeout_s: float = Field(default=300, gt=0)
    """Seconds the engine may take to start, or for one of its turns."""

    _pool: WorkerPool[_Engine, Worker] = PrivateAttr()

    def __init__(self, **settings: Any) -> None:
        try:
            super().__init__(**settings)
        except ValidationError as exc:
            wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in exc.errors())
            msg = f"Wrong settings of the embedded model: {wrong}. Correct them."
            raise ConfigurationError(msg) from None
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
        engine_tools(wired, limit=self.max_tools)
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
        tools = engine_tools(wired, limit=self.max_tools)
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
        self._check_size(conversation.turn.request)
        rules = Rules(
            forced=choice not in (None, "auto"),
            strict=self.strict,
            min_confidence=self.min_confidence,
        )
        if isinstance(choice, dict):
            named: Any = choice.get("function") or choice
            tools = [tool for tool in tools if tool.name == named.get("name")]
        answer = self._ask(tools, conversation.facts, conversation.inputs(self.earlier_turns))
        decision = decide(answer, conversation, tools, rules)
        if rules.forced and not decision.calls and conversation.turn.results:
            # The engine holds the turn to be over, but a call is due: as a request of its own.
            called = {result.name for result in conversation.turn.results}
            tools = [tool for tool in tools if tool.name not in called] or tools
            answer = self._ask(tools, conversation.facts, [conversation.as_one_request()])
            decision = decide(answer, conversation, tools, rules)
        return decision

    def _ask(self, tools: Sequence[EngineTool], facts: str, inputs: Sequence[str]) -> Answer:
        with self._pool.lease(_Engine(tools_json(tools), clean(facts))) as worker:
            return read_answer(worker.tell(inputs, max_tokens=self.max_tokens))

    def _check_size(self, request: str) -> None:
        size = token_estimate(request)
        if size > self.max_input_tokens:
            msg = (
                f"The request has about {size} tokens, and the embedded model misreads more than "
                f"{self.max_input_tokens}. Shorten it or split it; or, if what matters stands at "
                "its end, raise max_input_tokens."
            )
            raise ChatModelContextOverflowError(msg)

    @property
    @override
    def _llm_type(self) -> str:
        return "embedded"

    @property
    @override
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"model": self.model, "strict": self.strict, "earlier_turns": self.earlier_turns}

    @override
    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return LangSmithParams(
            ls_provider="embedded", ls_model_name=self.model, ls_model_type="chat"
        )

    @override
    def _resolve_model_profile(self) -> ModelProfile | None:
        return ModelProfile(
            text_inputs=True,
            text_outputs=False,
            tool_calling=True,
            tool_choice=True,
            structured_output=False,
        )
