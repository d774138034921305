"""A plan that the model writes down and works through."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, cast

from langchain_core.messages import SystemMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.runtime import Runtime
from langgraph.types import Command
from typing_extensions import TypedDict

from ..state.history import pending_calls
from ..state.schema import AgentState, OmitFromInput, ResponseT
from .base import AgentMiddleware, hook_config
from .flows import request_layer
from .request import ModelRequest

NAME = "write_todos"

WRITE_TODOS_TOOL_DESCRIPTION = """Write down the plan for the work at hand, or replace it by a new one.

Each call gives the whole list: entries that are left out are gone. An entry is `pending` (not begun), `in_progress` or `completed`.

Use it when the work takes three or more steps that need thought, when the user asks for several things or for a plan, or when results so far change what is to be done. For a short task or a plain question do the work at once, without a list.

While you work:
- Set the first entry to `in_progress` when you write the list. Until everything is done, at least one entry is `in_progress`; several are if they go on at the same time.
- Set an entry to `completed` as soon as it is done, not several at the end, and only if it is really done: not with an error left, a part missing, or something that could not be found. What blocks you becomes an entry of its own.
- Keep entries small enough to be finished in one go, and name what is to be done. Add what turns up, take out what no longer matters, leave completed ones as they are.

The list is for the work; it is no answer. What the user asked for goes into a message after the last call."""

WRITE_TODOS_SYSTEM_PROMPT = """## `write_todos`

With the tool `write_todos` you keep the plan of a larger task: which steps it has, and how far you are. Use it for work of several steps, and update it after each one. It costs time and tokens, so leave it for tasks that you can do at once.

- Call it once per turn, never several times in parallel: each call replaces the whole list.
- Change the plan when you learn something that changes it.
- When everything is done, give the result in a message of its own after the last call: begin with what the user asked for, not with the news that you are done."""

# Word for word, because programs compare it. Source: LangChain 1.5.2.
_PARALLEL = (
    "Error: The `write_todos` tool should never be called multiple times in parallel. Please call "
    "it only once per model invocation to update the todo list."
)


class Todo(TypedDict):
    """One step of a plan."""

    content: str
    """What is to be done."""
    status: Literal["pending", "in_progress", "completed"]


class PlanningState(AgentState[ResponseT]):
    """The plan, which is part of the result of a run and stays with the thread."""

    todos: NotRequired[Annotated[list[Todo], OmitFromInput]]


@tool(NAME, description=WRITE_TODOS_TOOL_DESCRIPTION)
def write_todos(
    todos: list[Todo], tool_call_id: Annotated[str, InjectedToolCallId]
) -> Command[Any]:
    """Replace the plan."""
    answer = ToolMessage(f"Updated todo list to {todos}", name=NAME, tool_call_id=tool_call_id)
    return Command(update={"todos": todos, "messages": [answer]})


class TodoListMiddleware(AgentMiddleware[Any, Any, Any]):
    """Gives the model a tool to write down a plan, and tells it how to use it.

    The plan is ``todos`` in the state and in the result. Because each call replaces it, a reply
    with several calls gets an error for each of them and changes nothing.

    It does not cover: whether the model keeps to its plan or tells the truth about it; a plan
    that a summary of the conversation makes the model forget (``todos`` still holds it).
    """

    state_schema = PlanningState

    def __init__(
        self,
        *,
        system_prompt: str = WRITE_TODOS_SYSTEM_PROMPT,
        tool_description: str = WRITE_TODOS_TOOL_DESCRIPTION,
    ) -> None:
        """Set the texts.

        Args:
            system_prompt: Put behind the agent's system prompt.
            tool_description: Description of the tool.
        """
        self.system_prompt = system_prompt
        self.tool_description = tool_description
        self.tools = [write_todos.model_copy(update={"description": tool_description})]
        self._last: tuple[SystemMessage | None, SystemMessage] | None = None

    @hook_config(quick=True)
    def after_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """Refuse several plans in one reply."""
        plans = [call for call in pending_calls(state["messages"]) if call["name"] == NAME]
        if len(plans) <= 1:
            return None
        answers = [
            ToolMessage(_PARALLEL, tool_call_id=cast("str", call["id"]), status="error")
            for call in plans
        ]
        return {"messages": answers}

    def _instructed(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Add the system prompt."""
        before, last = request.system_message, self._last
        # Nearly always the agent's own prompt, the same object for each call.
        if last is None or last[0] is not before:
            last = self._last = before, self._with_instructions(before)
        return request.override(system_message=last[1])

    wrap_model_call, awrap_model_call = request_layer(_instructed)

    def _with_instructions(self, before: SystemMessage | None) -> SystemMessage:
        blocks: list[Any] = list(before.content_blocks) if before is not None else []
        text = f"\n\n{self.system_prompt}" if blocks else self.system_prompt
        return SystemMessage(content=[*blocks, {"type": "text", "text": text}])
