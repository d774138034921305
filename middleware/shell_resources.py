"""The shell of a run and its workspace: how they are made, and freed whatever happens."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NotRequired, cast

from langgraph.channels import UntrackedValue

from ..state.errors import ConfigurationError, RunError
from ..state.schema import AgentState, PrivateStateAttr
from ._execution import SHELL_TEMP_PREFIX, BaseExecutionPolicy
from .shell_session import ShellSession

LOGGER = logging.getLogger(__name__)

KEY = "shell_session_resources"
"""State key of the shell."""

BASE_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb"}
"""All that a shell gets to see of an environment, besides what it is given."""


class TemporaryWorkspace:
    """A folder of one run, with a name from the beginning and made when the shell starts in it."""

    def __init__(self) -> None:
        # In each run, whether there will be a shell or not: paths as objects take ten times as long.
        self.name = os.path.join(tempfile.gettempdir(), SHELL_TEMP_PREFIX + secrets.token_hex(16))  # noqa: PTH118

    def cleanup(self) -> None:
        """Remove the folder and what is in it."""
        if os.path.exists(self.name):  # noqa: PTH110
            shutil.rmtree(self.name)


@dataclass
class SessionResources:
    """A shell and its workspace, freed when nobody holds them any more."""

    session: ShellSession
    tempdir: TemporaryWorkspace | None
    """The workspace, if it is one of this run alone."""
    policy: BaseExecutionPolicy
    finalizer: Any = field(init=False, repr=False)
    """Frees both, once."""

    def __post_init__(self) -> None:
        self.finalizer = weakref.finalize(
            self, _free, self.session, self.tempdir, self.policy.termination_timeout
        )


def _free(session: ShellSession, tempdir: TemporaryWorkspace | None, timeout_s: float) -> None:
    # A finalizer runs where nobody could catch an error.
    with suppress(Exception):
        session.stop(timeout_s)
    if tempdir is not None:
        with suppress(Exception):
            tempdir.cleanup()


class ShellToolState(AgentState[Any]):
    """State of an agent with a shell."""

    shell_session_resources: NotRequired[
        Annotated[SessionResources | None, UntrackedValue(object, guard=False), PrivateStateAttr]
    ]
    """The shell of the run; never stored."""


@dataclass(frozen=True)
class Shells:
    """Makes the shells of one middleware."""

    workspace_root: Path | None
    policy: BaseExecutionPolicy
    command: tuple[str, ...]
    environment: Mapping[str, str]
    startup_commands: tuple[str, ...] = ()
    shutdown_commands: tuple[str, ...] = ()

    def make(self) -> SessionResources:
        """A new shell, its startup commands run; without any it starts with its first command.

        Raises:
            RunError: A startup command failed; nothing is left behind.
        """
        tempdir = TemporaryWorkspace() if self.workspace_root is None else None
        workspace = self.workspace_root or Path(cast("TemporaryWorkspace", tempdir).name)
        environment = {**BASE_ENVIRONMENT, "HOME": str(workspace), **self.environment}
        session = ShellSession(workspace, self.policy, self.command, environment)
        resources = SessionResources(session, tempdir, self.policy)
        try:
            self.start_up(session)
        except BaseException:
            resources.finalizer()
            raise
        return resources

    def start_up(self, session: ShellSession) -> None:
        """Run the startup commands.

        Raises:
            RunError: One failed.
        """
        for command in self.startup_commands:
            result = session.execute(command, timeout=self.policy.startup_timeout)
            if result.timed_out or result.exit_code != 0:
                what = "timed out" if result.timed_out else f"gave {result.exit_code}"
                msg = f"Startup command {command!r} failed: it {what}. Correct it."
                raise RunError(msg)

    def shut_down(self, session: ShellSession) -> None:
        """Run the shutdown commands; failures are logged."""
        for command in self.shutdown_commands:
            try:
                result = session.execute(command, timeout=self.policy.command_timeout)
            except (OSError, RunError) as error:
                LOGGER.warning("Shutdown command %r failed: %s", command, error)
            else:
                if result.timed_out or result.exit_code != 0:
                    LOGGER.warning("Shutdown command %r failed.", command)


def as_commands(commands: Sequence[str] | str | None) -> tuple[str, ...]:
    """Commands given as one text, several or none."""
    if commands is None:
        return ()
    return (commands,) if isinstance(commands, str) else tuple(commands)


def as_shell(command: Sequence[str] | str | None) -> tuple[str, ...]:
    """The program of the shell with its arguments.

    Raises:
        ConfigurationError: It is empty.
    """
    if command is None:
        return ("/bin/bash",)
    parts = (command,) if isinstance(command, str) else tuple(command)
    if not parts:
        msg = "shell_command must contain at least one argument."
        raise ConfigurationError(msg)
    return parts


def as_environment(env: Mapping[str, Any] | None) -> dict[str, str]:
    """Environment variables, their values made text.

    Raises:
        TypeError: A name is no text.
    """
    given = dict(env or {})
    if not all(isinstance(cast("Any", name), str) for name in given):
        msg = "Names of environment variables must be strings."
        raise TypeError(msg)
    return {name: str(value) for name, value in given.items()}
