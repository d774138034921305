"""Warming up and closing reach every part of an agent, each once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from interlock.graph import Agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware
from interlock.tools import StructuredTool, Toolset

Log = list[str]


class Part:
    """A hook that wants to be warmed up and closed."""

    def __init__(self, log: Log, name: str = "hook") -> None:
        self.log = log
        self.name = name

    def run(self, state: Any) -> None:
        del state

    def warm_up(self) -> None:
        self.log.append(f"{self.name} warm")

    def close(self) -> None:
        self.log.append(f"{self.name} closed")


class AsyncPart(Part):
    """The same with asynchronous forms."""

    async def awarm_up(self) -> None:
        self.log.append(f"{self.name} warm later")

    async def close_async(self) -> None:
        self.log.append(f"{self.name} closed later")


class Guard(AgentMiddleware):
    def __init__(self, log: Log) -> None:
        self.log = log

    def warm_up(self) -> None:
        self.log.append("middleware warm")

    def close(self) -> None:
        self.log.append("middleware closed")


class Model(ScriptedChatModel):
    log: Any = None

    def warm_up(self) -> None:
        self.log.append("model warm")

    def close(self) -> None:
        self.log.append("model closed")


class WarmTool(StructuredTool):
    log: Any = None

    def warm_up(self) -> None:
        self.log.append("tool warm")

    def close(self) -> None:
        self.log.append("tool closed")


def add(a: int) -> int:
    """Add."""
    return a


def warm_tool(log: Log) -> WarmTool:
    plain = StructuredTool.from_function(add, name="add")
    fields: dict[str, Any] = {
        n: getattr(plain, n) for n in ("name", "description", "args_schema", "func")
    }
    made = WarmTool(**fields)
    made.log = log
    return made


@pytest.fixture
def log() -> Log:
    return []


@pytest.fixture
def agent(log: Log) -> Agent:
    make: Any = Model
    model = make(["one", "two", "three"])
    model.log = log
    hook = Part(log)
    return Agent(
        model=model,
        tools=[warm_tool(log)],
        middleware=[Guard(log)],
        hooks={"before_llm": [hook], "after_run": [hook]},
    )


WARM = ["model warm", "tool warm", "middleware warm", "hook warm"]
CLOSED = ["model closed", "tool closed", "middleware closed", "hook closed"]


def test_making_an_agent_warms_nothing(agent: Agent, log: Log) -> None:
    agent.compile()
    assert log == []


def test_every_part_is_warmed_up_and_closed_once(agent: Agent, log: Log) -> None:
    agent.warm_up()
    agent.close()
    assert log == WARM + CLOSED


def test_each_call_warms_up_again(agent: Agent, log: Log) -> None:
    agent.warm_up()
    agent.warm_up()
    assert log == WARM * 2


async def test_the_first_run_warms_up(run_agent: Any, agent: Agent, log: Log) -> None:
    await run_agent(agent, "go")
    await run_agent(agent, "go")
    assert log == WARM


async def test_a_closed_agent_can_be_used_again(run_agent: Any, agent: Agent, log: Log) -> None:
    await run_agent(agent, "go")
    agent.close()
    await run_agent(agent, "go")
    assert log == WARM + CLOSED + WARM


def test_a_context_manager_warms_up_and_closes(agent: Agent, log: Log) -> None:
    with agent as same:
        assert same is agent
        assert log == WARM
    assert log == WARM + CLOSED


async def test_an_asynchronous_context_manager_does_so_too(agent: Agent, log: Log) -> None:
    async with agent as same:
        assert same is agent
        assert log == WARM
    assert log == WARM + CLOSED


async def test_asynchronous_forms_are_preferred_where_they_can_be_awaited(log: Log) -> None:
    agent = Agent(model=ScriptedChatModel([]), hooks={"on_exit": [AsyncPart(log)]})
    async with agent:
        pass
    with agent:
        pass
    assert log == ["hook warm later", "hook closed later", "hook warm", "hook closed"]


def test_parts_without_these_methods_are_left_alone() -> None:
    with Agent(model=ScriptedChatModel([]), tools=[add, {"type": "web_search"}]):
        pass


def test_a_model_that_was_never_looked_up_is_not_looked_up_to_be_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    Agent(model="openai:gpt-5-mini").close()


def test_a_part_that_fails_does_not_keep_the_others_open(log: Log) -> None:
    class Broken(Part):
        def close(self) -> None:
            msg = "stuck"
            raise OSError(msg)

    agent = Agent(
        model=ScriptedChatModel([]), hooks={"on_exit": [Broken(log), Part(log), Broken(log)]}
    )
    with pytest.raises(OSError, match="stuck") as caught:
        agent.close()
    assert log == ["hook closed"]
    assert "stuck" in caught.value.__notes__[0]


@pytest.mark.parametrize("group", [list, Toolset])
async def test_tools_of_a_run_are_warmed_up_at_each_run_and_not_closed(
    run_agent: Any, log: Log, group: Callable[[Any], Any]
) -> None:
    agent = Agent(model=ScriptedChatModel(["one", "two"]))
    tools = group([warm_tool(log)])
    await run_agent(agent, "go", tools=tools)
    await run_agent(agent, "go", tools=tools)
    agent.close()
    assert log == ["tool warm", "tool warm"]
