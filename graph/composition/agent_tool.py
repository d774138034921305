"""An agent as a tool of another agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import InjectedState, ToolRuntime
from pydantic import BaseModel, Field, PrivateAttr, create_model

from ...state.errors import ConfigurationError
from ...tools.calls import AWAITING, BLOCKING, run_inline
from ..node import plan_of
from .arguments import TASK, callable_without
from .compiled_agent import graph_of, input_keys
from .sub_agent import Result, SubAgent, ToInput, complete_reasons


class Task(BaseModel):
    """What an agent is asked for, where nothing else was said."""

    task: str = Field(
        description="What the agent is to do, with all it has to know: it sees nothing else of "
        "this conversation."
    )


class AgentTool(StructuredTool):
    """The tool of an agent: warming it up or closing it does so with the agent."""

    _agent: Any = PrivateAttr(default=None)

    @classmethod
    def of(cls, agent: Any, **fields: Any) -> AgentTool:
        """The tool of an agent, with these fields."""
        tool = cls(**fields)
        tool._agent = agent
        return tool

    def warm_up(self) -> None:
        """Warm up the agent, if it wants that."""
        _called(self._agent, "warm_up")

    async def awarm_up(self) -> None:
        """:meth:`warm_up` on an event loop."""
        if (waiting := _called(self._agent, "awarm_up")) is not None:
            await waiting

    def close(self) -> None:
        """Close the agent, if it can be closed."""
        _called(self._agent, "close")

    async def aclose(self) -> None:
        """:meth:`close` on an event loop."""
        if (waiting := _called(self._agent, "aclose")) is not None:
            await waiting


def _called(agent: Any, name: str) -> Any:
    """What a method of an agent returns; None if it has no such method."""
    method: Any = getattr(agent, name, None)
    return None if method is None else method()


def task_schema(graph: Any) -> type[BaseModel]:
    """What an agent is asked with: a task, and a text for each variable that its prompts need.

    An agent with a user prompt makes its own message of the variables, so it needs no task.
    """
    try:
        prompts = plan_of(graph).prompts
    except TypeError:  # a graph of another kind has no prompts
        return Task
    if not prompts.required:
        return Task
    texts: dict[str, Any] = {
        name: (str, Field(description=f"The {name} that the task is about."))
        for name in sorted(prompts.required)
    }
    return create_model("Task", __base__=Task if prompts.user is None else BaseModel, **texts)


def agent_tool(
    agent: Any,
    *,
    description: str,
    name: str | None = None,
    args_schema: type[BaseModel] | None = None,
    to_input: ToInput | None = None,
    result: Result | None = None,
    remember: bool = False,
    count_usage: bool = True,
) -> BaseTool:
    """A tool that asks an agent and gives its answer.

    The agent runs inside the thread of the one that calls it, so its approvals and other pauses
    are pauses of that thread and are answered there, each once and by id, also where several
    agents wait side by side. Each call begins a conversation of its own. Streams with
    ``subgraphs=True`` show its steps under the tool's name.

    Args:
        agent: A compiled agent or other langgraph graph with ``messages``, or an ``Agent``, which
            is warmed up and closed with the calling ``Agent``.
        description: What the calling model reads: when to ask this agent, and what for.
        name: Name of the tool; by default the agent's.
        args_schema: Arguments, as a pydantic model: ``task`` becomes the message to the agent,
            the others are its input keys. By default what the agent's prompts need.
        to_input: ``(arguments, runtime)`` to the agent's input, for any other arguments or to
            pass on something of the calling agent's state, which is ``runtime.state``.
        result: ``"last_message"``: its text; ``"structured_response"``; or a function of the
            agent's result that gives text, content blocks or plain data. By default the
            structured answer of an agent that gives one, else the text.
        remember: All calls in a thread go on with one conversation, one call after the other; so
            it is for an agent with ``checkpointer=True``. The calling one needs a checkpointer.
        count_usage: Add the tokens that the agent used to the calling run's ``token_usage`` and
            to its limits.

    Returns:
        A tool. Its result ends with a note if the agent did not come to its end, as by
        ``max_agent_steps`` or ``length``.

    Raises:
        ConfigurationError: The agent has no name and none is given, it cannot give what is
            asked for, or an argument is no input of it.
    """
    graph, remembers = _graph_and_memory(agent)
    title = name or _name_of(agent, graph)
    schema = args_schema or task_schema(graph)
    if to_input is None:
        _check_arguments(title, graph, schema)
    _check_result(result)
    sub_agent = SubAgent(
        name=title,
        graph=graph,
        to_input=to_input,
        result=result,
        remember=remember or remembers,
        count_usage=count_usage,
        complete=complete_reasons(graph),
    )
    return _tool_of(agent, sub_agent, description, schema)


def _graph_and_memory(agent: Any) -> tuple[Any, bool]:
    """The graph of an agent, and whether it says itself that it goes on with its conversation."""
    graph = graph_of(agent)
    remembers = graph.checkpointer is True
    return (graph.copy({"checkpointer": None}) if remembers else graph), remembers


def _name_of(agent: Any, graph: Any) -> str:
    name: str | None = getattr(agent, "name", None) or graph.name
    if name is None or name == "LangGraph":
        msg = "The agent has no name for its tool; give agent_tool a name, or the agent one."
        raise ConfigurationError(msg)
    return name


def _check_result(result: Any) -> None:
    if not callable(result) and result not in (None, "last_message", "structured_response"):
        msg = f"result is {result!r}; give 'last_message', 'structured_response' or a function."
        raise ConfigurationError(msg)


def _tool_of(
    agent: Any, sub_agent: SubAgent, description: str, schema: type[BaseModel]
) -> BaseTool:
    function, coroutine = _functions(sub_agent)
    return AgentTool.of(
        agent,
        name=sub_agent.name,
        description=description,
        args_schema=callable_without(schema),
        func=function,
        coroutine=coroutine,
    )


def _functions(sub_agent: SubAgent) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The tool's function for either kind of run."""

    def call(runtime: ToolRuntime[Any, Any], **args: Any) -> Any:
        return run_inline(sub_agent.ask(BLOCKING, args, runtime), f"Agent {sub_agent.name!r}")

    async def call_later(runtime: ToolRuntime[Any, Any], **args: Any) -> Any:
        return await sub_agent.ask(AWAITING, args, runtime)

    if not sub_agent.remember:
        return call, call_later

    # Asking for state makes calls of one reply wait for each other: they share a conversation.
    def call_in_turn(
        runtime: ToolRuntime[Any, Any], state: Annotated[Any, InjectedState], **args: Any
    ) -> Any:
        del state
        return call(runtime, **args)

    async def call_in_turn_later(
        runtime: ToolRuntime[Any, Any], state: Annotated[Any, InjectedState], **args: Any
    ) -> Any:
        del state
        return await call_later(runtime, **args)

    return call_in_turn, call_in_turn_later


def _check_arguments(name: str, graph: Any, schema: type[BaseModel]) -> None:
    known = input_keys(graph)
    if not known:
        return
    foreign = [field for field in schema.model_fields if field not in {TASK, *known}]
    if foreign:
        msg = (
            f"Arguments {', '.join(foreign)} of agent tool {name!r} are no input of the agent, which "
            f"takes {', '.join(sorted(known))}, and {TASK!r} as the message; rename them, or say "
            "with to_input what they mean."
        )
        raise ConfigurationError(msg)
