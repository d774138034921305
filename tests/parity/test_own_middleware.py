"""Middleware written for LangChain's create_agent does in ours what it does there."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

import pytest
from langchain import agents
from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    after_model,
    before_model,
    dynamic_prompt,
    hook_config,
    wrap_tool_call,
)
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.types import Command

from interlock.graph import create_agent

THEIR_AGENT: Any = vars(agents)["create_agent"]


class Counted(AgentState[Any]):
    seen: NotRequired[Annotated[int, PrivateStateAttr]]


class Count(AgentMiddleware[Any, Any]):
    """Hooks, private state, a layer with a command and LangChain's own response types."""

    state_schema = Counted

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:  # noqa: ARG002
        return {"seen": state.get("seen", 0) + 1}

    def wrap_model_call(self, request: ModelRequest, handler: Any) -> Any:
        return self._noted(request, handler(self._told(request)))

    async def awrap_model_call(self, request: ModelRequest, handler: Any) -> Any:
        return self._noted(request, await handler(self._told(request)))

    @staticmethod
    def _told(request: Any) -> Any:
        return request.override(system_prompt=f"call {request.state['seen']}")

    @staticmethod
    def _noted(request: Any, response: Any) -> Any:
        if response.result[-1].tool_calls:
            # A message here would stand between the calls and their results.
            return response
        extra: Any = Command(update={"messages": [HumanMessage(f"after {request.state['seen']}")]})
        return ExtendedModelResponse(model_response=response, command=extra)


class Guard(AgentMiddleware[Any, Any]):
    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
        if "password" in state["messages"][-1].text:
            return {"jump_to": "end", "messages": [AIMessage("No.")]}
        return None


@before_model
def remind(state: Any, runtime: Any) -> Any:  # noqa: ARG001
    return {"messages": [HumanMessage("be brief")]} if len(state["messages"]) == 1 else None


@after_model
def sign(state: Any, runtime: Any) -> Any:  # noqa: ARG001
    last = state["messages"][-1]
    return {"messages": [AIMessage(f"{last.text}!", id=last.id)]} if last.text else None


@wrap_tool_call
def shout(request: Any, handler: Any) -> Any:
    result = handler(request)
    return ToolMessage(result.text.upper(), tool_call_id=result.tool_call_id, name=result.name)


@dynamic_prompt
def prompt(request: ModelRequest) -> str:
    return f"{len(request.messages)} messages"


SEARCHING: Any = {"name": "search", "args": {"query": "a"}, "id": "c0", "type": "tool_call"}
SEARCH = AIMessage("", tool_calls=[SEARCHING])
CASES: dict[str, Any] = {
    "own hooks, state and commands": lambda: {"middleware": [Count()], "script": [SEARCH, "done"]},
    "a guard that ends the run": lambda: {
        "middleware": [Guard()],
        "script": ["never"],
        "messages": [HumanMessage("the password?")],
    },
    "decorated hooks": lambda: {"middleware": [remind, sign, prompt], "script": ["done"]},
}


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("name", CASES)
async def test_langchain_middleware_does_here_what_it_does_there(
    outcome: Any, name: str, mode: str
) -> None:
    here = await outcome(create_agent, mode, **CASES[name]())
    assert here == await outcome(THEIR_AGENT, mode, **CASES[name]())


async def test_a_layer_around_tools_works_in_the_mode_it_was_written_for(outcome: Any) -> None:
    case: Any = {"middleware": [shout], "script": [SEARCH, "done"]}
    there = await outcome(THEIR_AGENT, "invoke", **case)
    assert await outcome(create_agent, "invoke", **case) == there
    messages, _ = await outcome(create_agent, "ainvoke", **case)
    assert messages[2][1] == "ABOUT A"
