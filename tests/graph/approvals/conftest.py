"""What tests of approvals in threads share: an office, and stores that outlive a process."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import interrupt

from interlock.graph import AgentGraph, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import (
    HumanInTheLoopMiddleware,
    PendingApproval,
)


@dataclass
class Office:
    """Agents whose tools keep what they did."""

    did: list[str] = field(default_factory=list[str])
    hold: threading.Event | None = None
    """If set, ``send`` says that it began and waits."""
    began: threading.Event = field(default_factory=threading.Event)

    @property
    def tools(self) -> list[BaseTool]:
        @tool
        def send(to: str) -> str:
            """Send a letter."""
            self.began.set()
            if self.hold is not None:
                self.hold.wait(20)
            self.did.append(f"send {to}")
            return f"sent to {to}"

        @tool
        def ask(question: str) -> str:
            """Ask a person."""
            return str(interrupt(question))

        return [send, ask]

    def agent(self, *replies: Any, **settings: Any) -> AgentGraph:
        settings.setdefault("checkpointer", InMemorySaver())
        mode = settings.pop("mode", "batched")
        review = HumanInTheLoopMiddleware({"send": True}, interrupt_mode=mode)
        model = ScriptedChatModel([*replies, "done"])
        return create_agent(model, self.tools, middleware=[review], **settings)


@pytest.fixture
def office() -> Office:
    return Office()


@pytest.fixture(params=["sync", "async"])
def listing(request: pytest.FixtureRequest) -> Callable[..., Awaitable[list[PendingApproval]]]:
    """``await listing(agent, config)``: what waits, in each mode."""

    async def read(agent: AgentGraph, config: Any) -> list[PendingApproval]:
        return agent.pending(config) if request.param == "sync" else await agent.apending(config)

    return read


@pytest.fixture(params=["sync", "async"])
def say(request: pytest.FixtureRequest) -> Callable[..., Awaitable[Any]]:
    """``await say(agent, decisions, config)``: the result of an answer, in each mode."""

    async def give(agent: AgentGraph, decisions: Any, config: Any) -> Any:
        if request.param == "sync":
            return agent.answer(decisions, config)
        return await agent.aanswer(decisions, config)

    return give


@dataclass(frozen=True)
class Store:
    """Threads that outlive a process."""

    database: str
    """The file or address."""
    connect: Callable[[], AbstractContextManager[Any]]

    def __call__(self) -> AbstractContextManager[Any]:
        """Open a checkpointer anew, over the same data, as a new process would."""
        return self.connect()


@pytest.fixture(scope="session")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = str(tmp_path_factory.mktemp("threads") / "threads.sqlite")

    @contextmanager
    def connect() -> Generator[SqliteSaver]:
        with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
            # Only the machine's own crash could lose what is not flushed.
            connection.execute("PRAGMA synchronous = OFF")
            saver = SqliteSaver(connection)
            saver.setup()
            yield saver

    return Store(path, connect)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Store]:
    """A server of our own on a socket in a folder; skipped where PostgreSQL is not installed."""
    postgres = pytest.importorskip("langgraph.checkpoint.postgres")
    programs = [shutil.which(name) for name in ("initdb", "pg_ctl")]
    root = os.geteuid() == 0
    if not all(programs) or (root and not shutil.which("runuser")):
        pytest.skip("PostgreSQL is not installed")
    # The server refuses to run as root.
    user = ["runuser", "-u", "postgres", "--"] if root else []
    folder = tempfile.mkdtemp(prefix="pg")
    data = f"{folder}/data"

    def call(*command: str | None) -> None:
        subprocess.run([*user, *map(str, command)], check=True, cwd=folder, capture_output=True)

    try:
        if root:
            shutil.chown(folder, "postgres")
        call(programs[0], "-D", data, "-A", "trust", "-U", "postgres", "--no-sync")
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        call(programs[1], "-D", data, "-o", options, "-l", f"{folder}/log", "-w", "start")
        address = f"postgresql://postgres@/postgres?host={folder}"
        with postgres.PostgresSaver.from_conn_string(address) as saver:
            saver.setup()
        yield Store(address, lambda: postgres.PostgresSaver.from_conn_string(address))
        call(programs[1], "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite_file", "postgres_server"])
def store(request: pytest.FixtureRequest) -> Store:
    """``with store() as saver:``: the same threads each time, through a new connection."""
    return cast("Store", request.getfixturevalue(request.param))
