"""What tests of the reviewer's place share: an office with threads in a file, its page, and a browser."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx
import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import interrupt

from interlock.graph import AgentGraph, create_agent
from interlock.graph.approvals import open_threads
from interlock.graph.cli.review import Desk
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import HumanInTheLoopMiddleware

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Office:
    """Agents that send letters after somebody approved them, and keep what they did."""

    path: Path
    did: list[str] = field(default_factory=list[str])
    hold: threading.Event | None = None
    """If set, ``send`` waits for it."""
    began: threading.Event = field(default_factory=threading.Event)
    """Set when ``send`` runs."""

    @property
    def tools(self) -> list[BaseTool]:
        @tool
        def send(
            to: str, copies: int = 1, kind: Literal["letter", "card"] = "letter", tags: Any = None
        ) -> str:
            """Send a letter."""
            self.began.set()
            if self.hold is not None:
                self.hold.wait(20)
            if to == "nobody":
                msg = "the post office is closed"
                raise RuntimeError(msg)
            self.did.append(f"{copies} {kind} to {to}" + (f" {tags}" if tags else ""))
            return f"sent to {to}"

        @tool
        def ask(question: str) -> str:
            """Ask a person."""
            answer = interrupt(question)
            self.did.append(f"heard {answer!r}")
            return str(answer)

        @tool
        def batch(names: list[str]) -> str:
            """Ask about several calls as LangChain does: by their order and not by ids."""
            requests = [{"name": "send", "args": {"to": name}} for name in names]
            allowed = [{"action_name": "send", "allowed_decisions": ["approve", "reject"]}]
            answer = interrupt({"action_requests": requests, "review_configs": allowed})
            self.did.append(" ".join(d["type"] for d in answer["decisions"]))
            return "asked"

        return [send, ask, batch]

    def agent(self, *replies: Any, saver: Any = None, **review: Any) -> AgentGraph:
        rule = review.pop("rule", True)
        key = "*" if review.pop("wildcard", False) else "send"
        middleware = [HumanInTheLoopMiddleware({key: rule}, **review)]
        model = ScriptedChatModel([*replies, "All is done."], repeat_last=True)
        return create_agent(
            model, self.tools, middleware=middleware, checkpointer=saver, on_tool_error="raise"
        )

    def begin(self, name: str, *calls: tuple[str, dict[str, Any]], **review: Any) -> None:
        """Run a thread up to its pause."""
        made: Any = [
            {"name": called, "args": args, "id": f"c{n}", "type": "tool_call"}
            for n, (called, args) in enumerate(calls, 1)
        ]
        reply = AIMessage(review.pop("text", ""), tool_calls=made)
        said = review.pop("said", "Please go on")
        config: Any = {"configurable": {"thread_id": name}}
        with SqliteSaver.from_conn_string(str(self.path)) as saver:
            agent = self.agent(reply, saver=saver, **review)
            agent.invoke({"messages": [("user", said)]}, config)

    def desk(self, *, reads_only: bool = False, **review: Any) -> Desk:
        """The reviewer's desk, in a process that knows the agent anew."""
        return Desk(open_threads(str(self.path)), None if reads_only else self.agent(**review))


@pytest.fixture(scope="module")
def new_office(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Office]:
    """``new_office()``: one with a file of its own."""
    return lambda: Office(tmp_path_factory.mktemp("office") / "threads.sqlite")


@pytest.fixture
def office(new_office: Callable[[], Office]) -> Office:
    return new_office()


@dataclass
class Page:
    """A page that is served."""

    port: int
    key: str
    csrf: str
    http: httpx.Client
    """Knows no cookie."""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        return f"{self.origin}/?key={self.key}"

    @property
    def headers(self) -> dict[str, str]:
        """What the page itself sends with an answer."""
        return {
            "origin": self.origin,
            "content-type": "application/json",
            "x-csrf-token": self.csrf,
        }

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request with the cookie of the page."""
        cookie = {"cookie": f"interlock_review_{self.port}={self.key}"}
        headers = {**cookie, **options.pop("headers", {})}
        return self.http.request(method, f"{self.origin}{path}", headers=headers, **options)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def answer(self, thread: str, answers: Any, **changed: str | None) -> httpx.Response:
        """Send answers as the page does, with some headers changed or left out."""
        headers = {**self.headers, **{k.replace("_", "-"): v for k, v in changed.items()}}
        given = {k: v for k, v in headers.items() if v is not None}
        body = {"thread": thread, "answers": answers}
        return self.request("POST", "/api/answer", json=body, headers=given)


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[[Desk], Page]]:
    """``serve(desk)``: the page of a desk on a free port."""
    uvicorn = pytest.importorskip("uvicorn")
    from interlock.graph.cli.review.web.app import review_app  # noqa: PLC0415 - an extra
    from interlock.graph.cli.review.web.guard import Secrets  # noqa: PLC0415 - an extra

    running: list[tuple[Any, threading.Thread, socket.socket]] = []

    def start(desk: Desk) -> Page:
        listener = socket.create_server(("127.0.0.1", 0))
        port, own = listener.getsockname()[1], Secrets()
        config = uvicorn.Config(
            review_app(desk, port, own), log_level="error", access_log=False, lifespan="off"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: anyio.run(server.serve, [listener]))
        thread.start()
        running.append((server, thread, listener))
        while not server.started and thread.is_alive():
            time.sleep(0.005)
        return Page(port, own.key, own.csrf, http)

    # No certificates are needed on loopback, and reading them takes longer than a request.
    http = httpx.Client(verify=False, trust_env=False, timeout=20)  # noqa: S501
    yield start
    http.close()
    for server, _, _ in running:
        server.should_exit = True
    for _, thread, listener in running:
        thread.join(20)
        listener.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium; skipped where it is not installed."""
    playwright = pytest.importorskip("playwright.sync_api")
    if shutil.which(CHROMIUM) is None:
        pytest.skip(f"{CHROMIUM} is not installed: apt-get install chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Any, serve: Callable[[Desk], Page]) -> Iterator[Callable[..., Any]]:
    """``visit(desk)``: the page, opened from the printed address, in a browser of its own.

    Nothing may be reported by the browser as an error, least of all a breach of the policy.
    """
    opened: list[Any] = []
    faults: list[str] = []

    def fault(event: Any) -> None:
        text = str(getattr(event, "text", event))
        harmless = getattr(event, "type", "error") in ("log", "info", "debug")
        # A refused answer is reported by the browser too.
        if not harmless and "status of 4" not in text:
            faults.append(text)

    def open_page(desk: Desk, **options: Any) -> Any:
        context = browser.new_context(**options)
        context.set_default_timeout(10_000)
        opened.append(context)
        tab = context.new_page()
        tab.on("pageerror", fault)
        tab.on("console", fault)
        tab.on("dialog", fault)
        tab.goto(serve(desk).address)
        tab.wait_for_selector("main > *")
        return tab

    yield open_page
    for context in opened:
        context.close()
    assert faults == []
