"""Tools and resources of an MCP server, for an agent."""

from __future__ import annotations

import importlib
import threading
import weakref
from collections.abc import Awaitable, Callable, Collection
from contextlib import ExitStack, suppress
from typing import Any, Self

from langchain_core.runnables.config import run_in_executor
from langchain_core.tools import BaseTool, StructuredTool

from ..state.errors import ConfigurationError, MissingExtraError, ToolExecutionError
from .mcp_content import content_of, description_of, resource_block, tool_name
from .mcp_elicitation import ask, question_of

_MOST_PAGES = 50
_MOST_QUESTIONS = 10
_LISTED = 20


class McpServer:
    """A connection to an MCP server, used by synchronous and asynchronous runs alike.

    It is opened when it is first needed, lives in a thread of its own, and is closed by
    :meth:`close` or at the end of a ``with`` block. Calls of one server run one after the other.

    A server that asks something during a call (elicitation) pauses the run: the interrupt's value
    has ``message`` and ``schema`` or ``url``, and ``Command(resume={"action": "accept",
    "content": {...}})`` answers it. The call then begins anew, so what the tool did before it
    asked is done again.

    A server decides what its tools say and do: put an injection screen behind it and an approval
    or a firewall before it, and take only the tools you need. Not covered: sampling, roots,
    prompts, subscriptions.

    Args:
        server: A URL, a ``mcp.StdioServerParameters``, an MCP transport, or a server object.
        name: Name of the server in questions and errors.
        tools: The tools to take, by the server's names; all by default.
        prefix: Put before the names of the tools.
        read_resources: Add a tool that reads the server's resources.
        timeout_s: Longest call, in seconds.
        mode: How the version of the protocol is agreed on, as of ``mcp.Client``.

    Raises:
        MissingExtraError: The ``mcp`` package is not installed.
        ConfigurationError: A limit is wrong.
    """

    def __init__(
        self,
        server: Any,
        *,
        name: str = "mcp",
        tools: Collection[str] | None = None,
        prefix: str = "",
        read_resources: bool = False,
        timeout_s: float = 60.0,
        mode: str = "auto",
    ) -> None:
        if timeout_s <= 0:
            msg = f"timeout_s is {timeout_s!r}; it must be positive."
            raise ConfigurationError(msg)
        if isinstance(tools, str):
            msg = f"tools is {tools!r}; give a list of tool names."
            raise ConfigurationError(msg)
        self._mcp = _import_mcp()
        self._server = server
        self._name = name
        self._wanted = None if tools is None else frozenset(tools)
        self._prefix = prefix
        self._read_resources = read_resources
        self._timeout_s = timeout_s
        self._mode = mode
        self._one_at_a_time = threading.RLock()
        self._connection: _Connection | None = None
        self._answers: list[dict[str, Any]] = []
        self._asked: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the tools open it again if they are called."""
        with self._one_at_a_time:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def tools(self) -> list[BaseTool]:
        """The server's tools, ready for an agent.

        Raises:
            ConfigurationError: The server cannot be reached, or has not the tools that are wanted.
        """
        try:
            listed = self._list("list_tools", "tools")
        except ToolExecutionError as error:
            msg = f"MCP server {self._name!r} gives no tools: {error}"
            raise ConfigurationError(msg) from error
        known = {tool.name for tool in listed}
        if self._wanted is not None and (missing := self._wanted - known):
            msg = (
                f"MCP server {self._name!r} has no tools {', '.join(sorted(missing))}; it has "
                f"{', '.join(sorted(known))}."
            )
            raise ConfigurationError(msg)
        taken = [t for t in listed if self._wanted is None or t.name in self._wanted]
        made: list[BaseTool] = [self._tool(tool) for tool in taken]
        return [*made, self._resource_tool()] if self._read_resources else made

    def _tool(self, tool: Any) -> StructuredTool:
        name = tool_name(self._prefix, tool.name)

        def call(**args: Any) -> tuple[Any, Any]:
            answers: list[dict[str, Any]] = []
            while True:
                result, question = self._call(tool.name, args, answers)
                if question is None:
                    return self._finished(name, result)
                answers.append(ask(question))

        async def call_later(**args: Any) -> tuple[Any, Any]:
            answers: list[dict[str, Any]] = []
            while True:
                result, question = await run_in_executor(
                    None, self._call, tool.name, args, list(answers)
                )
                if question is None:
                    return self._finished(name, result)
                answers.append(ask(question))

        return StructuredTool(
            name=name,
            description=description_of(tool),
            args_schema=tool.input_schema,
            func=call,
            coroutine=call_later,
            response_format="content_and_artifact",
        )

    def _resource_tool(self) -> StructuredTool:
        resources = self._list("list_resources", "resources")
        known = "; ".join(f"{r.uri} ({r.name})" for r in resources[:_LISTED])
        name = tool_name(self._prefix, "read_resource")

        def read(uri: str) -> Any:
            result = self._ask_server(name, lambda client: client.read_resource(uri))
            return [resource_block(content) for content in result.contents]

        return StructuredTool.from_function(
            read,
            name=name,
            description=f"Read a resource of {self._name!r} by its URI. There are: {known}.",
        )

    def _call(
        self, tool: str, args: dict[str, Any], answers: list[dict[str, Any]]
    ) -> tuple[Any, dict[str, Any] | None]:
        """The result of a call, or the first question that has no answer yet."""
        with self._one_at_a_time:
            if len(answers) > _MOST_QUESTIONS:
                msg = f"Tool {tool!r} asked more than {_MOST_QUESTIONS} questions in one call."
                raise ToolExecutionError(msg, tool_name=tool)
            self._answers, self._asked = list(answers), None
            result = self._ask_server(tool, lambda client: client.call_tool(tool, args))
            asked = self._asked
        return result, None if asked is None else question_of(self._name, tool, asked)

    async def _on_question(self, _context: Any, params: Any) -> Any:
        """Answer a question of the server, or keep it and call the whole thing off."""
        if self._answers and self._asked is None:
            answer = self._answers.pop(0)
            return self._mcp.types.ElicitResult(
                action=answer["action"], content=answer.get("content")
            )
        if self._asked is None:
            self._asked = params
        return self._mcp.types.ElicitResult(action="cancel")

    def _finished(self, tool: str, result: Any) -> tuple[Any, Any]:
        content = content_of(result.content)
        if result.is_error:
            text = content if isinstance(content, str) else "the server gave no reason"
            msg = f"Tool {tool!r} failed: {text}"
            raise ToolExecutionError(msg, tool_name=tool)
        return content, result.structured_content

    def _list(self, method: str, field: str) -> list[Any]:
        """All entries of a listing that comes in pages."""
        found: list[Any] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):

            def fetch(client: Any, at: str | None = cursor) -> Any:
                return getattr(client, method)(cursor=at)

            page = self._ask_server(method, fetch)
            found += getattr(page, field)
            cursor = page.next_cursor
            if not cursor:
                return found
        msg = f"MCP server {self._name!r} lists more than {_MOST_PAGES} pages."
        raise ToolExecutionError(msg, tool_name=method)

    def _ask_server(self, what: str, request: Callable[[Any], Awaitable[Any]]) -> Any:
        """Do one request; a connection that has failed is given up, the next request opens another.

        Raises:
            ToolExecutionError: The server cannot be reached, refuses, or takes too long.
        """
        with self._one_at_a_time:
            try:
                if self._connection is None:
                    self._connection = _Connection(self._client())
                return self._connection.run(request)
            except self._mcp.MCPError as error:
                msg = f"MCP server {self._name!r} refused {what!r}: {error}"
                raise ToolExecutionError(msg, tool_name=what) from error
            except Exception as error:
                self.close()
                msg = f"MCP server {self._name!r} could not be asked: {type(error).__name__}."
                raise ToolExecutionError(msg, tool_name=what) from error

    def _client(self) -> Any:
        return self._mcp.Client(
            self._server,
            read_timeout_seconds=self._timeout_s,
            elicitation_callback=self._on_question,
            mode=self._mode,
        )


class _Connection:
    """An open client in an event loop of its own, in a thread of its own."""

    def __init__(self, client: Any) -> None:
        portals: Any = importlib.import_module("anyio.from_thread")
        with ExitStack() as stack:
            self._portal: Any = stack.enter_context(portals.start_blocking_portal())
            self._client = stack.enter_context(self._portal.wrap_async_context_manager(client))
            self._stack = stack.pop_all()
        self._finalizer = weakref.finalize(self, _close, self._stack)

    def run(self, request: Callable[[Any], Awaitable[Any]]) -> Any:
        """The answer to a request."""
        return self._portal.call(request, self._client)

    def close(self) -> None:
        """Close the client and end the thread."""
        self._finalizer()


def _close(stack: ExitStack) -> None:
    # A server that has gone away cannot be said goodbye to.
    with suppress(Exception):
        stack.close()


def _import_mcp() -> Any:
    try:
        return importlib.import_module("mcp")
    except ImportError as error:
        msg = "The mcp package is not installed; install interlock[mcp]."
        raise MissingExtraError(msg, extra="mcp") from error
