"""A tool that gives the model a shell, in bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self, cast

from langchain_core.messages import ToolMessage
from langchain_core.runnables.config import run_in_executor
from langchain_core.tools import StructuredTool, ToolException
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command
from pydantic import BaseModel, Field, model_validator

from ..state.errors import RunError
from ._execution import BaseExecutionPolicy, HostExecutionPolicy
from .base import AgentMiddleware
from .redaction import RedactionRule
from .sandboxes import CodexSandboxExecutionPolicy, DockerExecutionPolicy
from .shell_report import describe
from .shell_resources import (
    KEY,
    SessionResources,
    Shells,
    ShellToolState,
    as_commands,
    as_environment,
    as_shell,
)
from .shell_session import ShellSession

DESCRIPTION = (
    "Run a command in a shell that keeps its folder and variables from one command to the next. "
    "Commands have a time limit, long output is cut, and nothing can be typed in. Set restart "
    "instead of a command to begin with a new shell."
)
_NEW_SHELL = "[a new shell was started; folder and variables of the last one are gone]\n"


class ShellToolInput(BaseModel):
    """Arguments of the tool: a command, or a restart."""

    command: str | None = Field(default=None, description="The command to run.")
    restart: bool = Field(default=False, description="Begin with a new shell instead.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.command is None and not self.restart:
            msg = "The shell tool requires either 'command' or 'restart'."
            raise ValueError(msg)
        if self.command is not None and self.restart:
            msg = "Give only one of 'command' and 'restart'."
            raise ValueError(msg)
        return self


class ShellToolMiddleware(AgentMiddleware[Any, Any, Any]):
    """Adds a tool that runs commands in one shell per run.

    The shell begins when the run does and ends with it, also when the run fails, is cancelled or
    pauses: a resumed run gets a new one and is told so. It inherits nothing of this process's
    environment. A command that takes too long is killed with its process group.

    A shell can do what its user can. Put an approval or a firewall before it, and for commands
    that come from text of strangers use ``DockerExecutionPolicy``.

    What this does **not** cover: a process that leaves its group on purpose (``setsid``) outlives
    a kill on this machine, not in a container; side effects of commands.

    Args:
        workspace_root: The folder commands run in, made if it is not there; by default a new one
            that is deleted after the run.
        startup_commands: Run when the shell begins; if one fails, so does the run.
        shutdown_commands: Run when the run ends; failures are logged.
        execution_policy: How the shell is started and kept in bounds; by default a process of
            this machine.
        redaction_rules: What is hidden in the output before the model reads it.
        tool_description: What the model is told about the tool.
        tool_name: Name of the tool.
        shell_command: The shell, by default ``/bin/bash``.
        env: Environment variables for the shell.

    Raises:
        ConfigurationError: A setting is wrong.
        TypeError: A name in ``env`` is no text.
    """

    state_schema = ShellToolState

    def __init__(
        self,
        workspace_root: str | Path | None = None,
        *,
        startup_commands: Sequence[str] | str | None = None,
        shutdown_commands: Sequence[str] | str | None = None,
        execution_policy: BaseExecutionPolicy | None = None,
        redaction_rules: Sequence[RedactionRule] | None = None,
        tool_description: str | None = None,
        tool_name: str = "shell",
        shell_command: Sequence[str] | str | None = None,
        env: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self._policy = execution_policy or HostExecutionPolicy()
        self._startup_commands = as_commands(startup_commands)
        self._rules = [rule.resolve() for rule in redaction_rules or ()]
        self._shells = Shells(
            workspace_root=None if workspace_root is None else Path(workspace_root),
            policy=self._policy,
            command=as_shell(shell_command),
            environment=as_environment(env),
            startup_commands=self._startup_commands,
            shutdown_commands=as_commands(shutdown_commands),
        )
        self._tool_name = tool_name
        self.tools = [self._make_tool(tool_name, tool_description or DESCRIPTION)]

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """Begin the shell."""
        return {KEY: self._get_or_create_resources(state)}

    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002
        """End the shell."""
        resources = state.get(KEY)
        if not isinstance(resources, SessionResources):
            return None
        try:
            self._shells.shut_down(resources.session)
        finally:
            resources.finalizer()
        return {KEY: None}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Begin the shell, off the event loop if commands are to be run."""
        if not self._startup_commands:
            return self.before_agent(state, runtime)
        return await run_in_executor(None, self.before_agent, state, runtime)

    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """End the shell, off the event loop."""
        return await run_in_executor(None, self.after_agent, state, runtime)

    def on_error(self, error: Exception, state: Any, runtime: Any) -> None:  # noqa: ARG002
        """End the shell of a run that failed."""
        resources = state.get(KEY)
        if isinstance(resources, SessionResources):
            resources.finalizer()

    def _make_tool(self, name: str, description: str) -> StructuredTool:
        def run_command(
            *,
            runtime: ToolRuntime[None, Any],
            command: str | None = None,
            restart: bool = False,
        ) -> Any:
            return self._in_run(runtime, command, restart=restart)

        async def run_command_and_wait(
            *,
            runtime: ToolRuntime[None, Any],
            command: str | None = None,
            restart: bool = False,
        ) -> Any:
            known = runtime.state.get(KEY)
            try:
                return await run_in_executor(
                    None, lambda: run_command(runtime=runtime, command=command, restart=restart)
                )
            except BaseException as error:
                if not isinstance(error, Exception) and isinstance(known, SessionResources):
                    # Cancelled: the thread that waits for the command ends with the command.
                    known.session.kill()
                raise

        return StructuredTool.from_function(
            run_command,
            coroutine=run_command_and_wait,
            name=name,
            description=description,
            args_schema=ShellToolInput,
            infer_schema=False,
        )

    def _in_run(
        self, runtime: ToolRuntime[None, Any], command: str | None, *, restart: bool
    ) -> Any:
        """Run a command in the shell of the run, or in a new one if it is gone."""
        state = dict(cast("Mapping[str, Any]", runtime.state))
        known = state.get(KEY)
        resources = self._get_or_create_resources(state)
        payload = {"command": command, "restart": restart}
        message = self._run_shell_tool(resources, payload, tool_call_id=runtime.tool_call_id)
        if resources is known:
            return message
        told = message.model_copy(update={"content": f"{_NEW_SHELL}{message.text}"})
        return Command(update={KEY: resources, "messages": [told]})

    def _get_or_create_resources(self, state: Any) -> SessionResources:
        resources = state.get(KEY)
        if isinstance(resources, SessionResources) and resources.finalizer.alive:
            return resources
        state[KEY] = resources = self._shells.make()
        return resources

    def _run_shell_tool(
        self, resources: SessionResources, payload: Mapping[str, Any], *, tool_call_id: str | None
    ) -> Any:
        """Run a command and make its result a message, or a text where there is no call."""
        session = resources.session
        if payload.get("restart"):
            try:
                session.restart()
                self._shells.start_up(session)
            except (OSError, RunError) as error:
                msg = "Failed to restart shell session."
                raise ToolException(msg) from error
            return self._message("Shell session restarted.", tool_call_id, "success", {})
        command = payload.get("command")
        if not command or not isinstance(command, str):
            msg = "Shell tool expects a 'command' string when restart is not requested."
            raise ToolException(msg)
        try:
            result = session.execute(command, timeout=self._policy.command_timeout)
        except (OSError, RunError) as error:
            raise ToolException(str(error)) from error
        report = describe(result, self._policy, self._rules)
        return self._message(report.text, tool_call_id, report.status, report.facts)

    def _message(
        self, text: str, tool_call_id: str | None, status: str, facts: Mapping[str, Any]
    ) -> Any:
        if tool_call_id is None:
            return text
        return ToolMessage(
            text,
            tool_call_id=tool_call_id,
            name=self._tool_name,
            status=cast("Any", status),
            artifact=dict(facts),
        )


__all__ = [
    "CodexSandboxExecutionPolicy",
    "DockerExecutionPolicy",
    "HostExecutionPolicy",
    "RedactionRule",
    "SessionResources",
    "ShellSession",
    "ShellToolInput",
    "ShellToolMiddleware",
    "ShellToolState",
]
