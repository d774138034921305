from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from pydantic import ValidationError

from interlock.graph import create_agent
from interlock.graph.models.scripted import ScriptedChatModel
from interlock.middleware import (
    AgentMiddleware,
    HostExecutionPolicy,
    RedactionRule,
    ShellToolMiddleware,
)
from interlock.middleware.shell_tool import ShellToolInput
from interlock.state import ConfigurationError, RunError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
Run = Callable[..., Awaitable[dict[str, Any]]]
THREAD: Any = {"configurable": {"thread_id": "t"}}


def shell(command: str, number: int = 1) -> AIMessage:
    call = {"name": "shell", "args": {"command": command}, "id": f"c{number}", "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


def results(result: dict[str, Any]) -> list[str]:
    return [m.text for m in result["messages"] if isinstance(m, ToolMessage)]


def is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{int(pid)}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("saver", [None, InMemorySaver])
async def test_commands_of_a_run_share_a_shell_that_ends_with_it(run: Run, saver: Any) -> None:
    model = ScriptedChatModel([shell("X=5; pwd"), shell("echo $X; echo $$", 2), "done"])
    agent = create_agent(
        model, middleware=[ShellToolMiddleware()], checkpointer=saver() if saver else None
    )

    result = await run(agent, {"messages": "go"}, THREAD)

    workspace, (value, pid) = results(result)[0], results(result)[1].split()
    assert value == "5"
    assert not is_running(pid)
    assert not os.path.exists(workspace)  # noqa: ASYNC240, PTH110
    assert "shell_session_resources" not in result


async def test_failure_is_an_error_with_its_code(run: Run) -> None:
    model = ScriptedChatModel([shell("echo no >&2; exit 4"), "done"])

    result = await run(create_agent(model, middleware=[ShellToolMiddleware()]), {"messages": "go"})

    message = result["messages"][2]
    assert message.text == "[stderr] no\n\nExit code: 4"
    assert message.status == "error"
    assert message.artifact["exit_code"] == 4


async def test_late_command_is_an_error_and_the_run_goes_on(run: Run) -> None:
    policy = HostExecutionPolicy(command_timeout=0.3)
    model = ScriptedChatModel([shell("sleep 100"), shell("echo on", 2), "done"])
    agent = create_agent(model, middleware=[ShellToolMiddleware(execution_policy=policy)])

    result = await run(agent, {"messages": "go"})

    assert "timed out after 0.3 seconds" in results(result)[0]
    assert results(result)[1] == "on"


@pytest.mark.parametrize(
    ("strategy", "shown"), [("redact", "[REDACTED_EMAIL]"), ("block", "blocked")]
)
async def test_output_is_redacted(run: Run, strategy: Any, shown: str) -> None:
    rules = [RedactionRule("email", strategy)]
    model = ScriptedChatModel([shell("printf kim; echo @example.com"), "done"])
    agent = create_agent(model, middleware=[ShellToolMiddleware(redaction_rules=rules)])

    result = await run(agent, {"messages": "go"})

    assert shown in results(result)[0]
    assert "kim@" not in repr(result)


async def test_shell_of_a_run_that_fails_is_ended(run: Run, tmp_path: Path) -> None:
    class Failing(AgentMiddleware):
        def after_tools(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            raise RuntimeError

    model = ScriptedChatModel([shell("echo $$ > pid"), "never"])
    agent = create_agent(model, middleware=[ShellToolMiddleware(tmp_path), Failing()])

    with pytest.raises(RuntimeError):
        await run(agent, {"messages": "go"})

    assert not is_running((tmp_path / "pid").read_text())


async def test_resumed_run_gets_a_new_shell_and_is_told_so(run: Run, tmp_path: Path) -> None:
    @tool
    def ask() -> str:
        """Ask."""
        return str(interrupt("?"))

    call: Any = {"name": "ask", "args": {}, "id": "a1", "type": "tool_call"}
    steps = [shell("X=5; echo $$ > pid"), AIMessage("", tool_calls=[call])]
    model = ScriptedChatModel([*steps, shell("echo ${X:-unset}", 2), shell("echo $X$$", 3), "done"])
    agent = create_agent(
        model, [ask], middleware=[ShellToolMiddleware(tmp_path)], checkpointer=InMemorySaver()
    )

    await run(agent, {"messages": "go"}, THREAD)
    gc.collect()
    assert not is_running((tmp_path / "pid").read_text())
    result = await run(agent, Command(resume="yes"), THREAD)

    assert results(result)[2] == (
        "[a new shell was started; folder and variables of the last one are gone]\nunset"
    )


async def test_startup_and_shutdown_commands_are_run(run: Run, tmp_path: Path) -> None:
    shell_tool = ShellToolMiddleware(
        tmp_path, startup_commands="touch began", shutdown_commands=["touch ended", "false"]
    )

    await run(create_agent(ScriptedChatModel(["hi"]), middleware=[shell_tool]), {"messages": "go"})

    assert sorted(os.listdir(tmp_path)) == ["began", "ended"]  # noqa: PTH208 - it is asynchronous here


async def test_failing_startup_command_ends_the_run_and_leaves_nothing(
    run: Run, tmp_path: Path
) -> None:
    shell_tool = ShellToolMiddleware(tmp_path, startup_commands=["echo $$ > pid", "exit 1"])
    agent = create_agent(ScriptedChatModel(["hi"]), middleware=[shell_tool])

    with pytest.raises(RunError, match="Startup command 'exit 1' failed: it gave 1"):
        await run(agent, {"messages": "go"})
    assert not is_running((tmp_path / "pid").read_text())


def test_tool_takes_a_command_or_a_restart() -> None:
    assert ShellToolInput(restart=True).command is None
    with pytest.raises(ValidationError, match="requires either"):
        ShellToolInput()
    with pytest.raises(ValidationError, match="only one"):
        ShellToolInput(command="ls", restart=True)


async def test_model_can_restart_the_shell(run: Run) -> None:
    call: Any = {"name": "shell", "args": {"restart": True}, "id": "r1", "type": "tool_call"}
    steps: list[Any] = [
        shell("X=5"),
        AIMessage("", tool_calls=[call]),
        shell("echo ${X:-unset}", 2),
        "done",
    ]
    agent = create_agent(ScriptedChatModel(steps), middleware=[ShellToolMiddleware()])

    result = await run(agent, {"messages": "go"})

    assert results(result)[1:] == ["Shell session restarted.", "unset"]


@pytest.mark.parametrize(
    ("settings", "error"),
    [({"shell_command": []}, ConfigurationError), ({"env": {1: "x"}}, TypeError)],
)
def test_wrong_setting_is_refused(settings: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        ShellToolMiddleware(**settings)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - another process tells nobody that it is ready
            await asyncio.sleep(0)


async def test_cancelled_run_leaves_no_command_running(tmp_path: Path) -> None:
    model = ScriptedChatModel([shell("echo $$ > pid.new; mv pid.new pid; sleep 1000"), "never"])
    agent = create_agent(model, middleware=[ShellToolMiddleware(tmp_path)])
    task = asyncio.create_task(agent.ainvoke({"messages": "go"}))
    await until((tmp_path / "pid").exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    pid = (tmp_path / "pid").read_text()
    await until(lambda: not is_running(pid))
