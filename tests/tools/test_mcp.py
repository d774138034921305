from __future__ import annotations

import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from importlib.util import find_spec
from typing import Annotated, Any, cast

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel, ValidationError

from interlock.graph import create_agent
from interlock.graph.models.scripted import ScriptedChatModel
from interlock.state import ConfigurationError
from interlock.tools import McpServer

pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="needs the extra mcp")
THREAD: Any = {"configurable": {"thread_id": "t"}}
Run = Callable[..., Awaitable[dict[str, Any]]]


class Payment(BaseModel):
    amount: int


class Shop:
    """An MCP server that counts what it did."""

    def __init__(self) -> None:
        from mcp.server.elicitation import ElicitationResult  # noqa: PLC0415
        from mcp.server.mcpserver import MCPServer  # noqa: PLC0415
        from mcp.server.mcpserver.exceptions import ToolError  # noqa: PLC0415
        from mcp.server.mcpserver.resolve import Elicit, Resolve  # noqa: PLC0415

        self.paid: list[int] = []
        self.server: Any = MCPServer("shop")

        @self.server.tool()
        def price(item: str) -> str:
            """Say the price of an item."""
            if item == "moon":
                msg = "not for sale"
                raise ToolError(msg)
            return f"{item} costs 5"

        @self.server.tool(name="odd name!")
        def odd() -> list[int]:
            """Give numbers.\u200b"""
            return [1, 2]

        async def how_much() -> Any:
            return Elicit("How much?", Payment)

        def pay(answer: Any) -> str:
            """Pay."""
            if answer.action != "accept":
                return f"not paid: {answer.action}"
            self.paid.append(answer.data.amount)
            return f"paid {answer.data.amount}"

        how_much.__annotations__["return"] = Elicit[Payment]
        pay.__annotations__["answer"] = Annotated[ElicitationResult[Payment], Resolve(how_much)]
        self.server.tool()(pay)

        @self.server.resource("shop://rules")
        def rules() -> str:
            """The rules."""
            return "no refunds"


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture(params=["auto", "legacy"])
def connect(shop: Shop, request: pytest.FixtureRequest) -> Iterator[Callable[..., McpServer]]:
    """Connect to the shop, in the newest protocol and in the one before it."""
    servers: list[McpServer] = []

    def make(server: Any = None, **options: Any) -> McpServer:
        settings = {"mode": request.param, **options}
        servers.append(McpServer(server or shop.server, name="shop", **settings))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.fixture(params=["invoke", "ainvoke"])
def run(request: pytest.FixtureRequest) -> Run:
    async def go(agent: Any, value: Any, config: Any = None) -> dict[str, Any]:
        if request.param == "invoke":
            return cast("dict[str, Any]", agent.invoke(value, config))
        return cast("dict[str, Any]", await agent.ainvoke(value, config))

    return go


def call(name: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": "c1"}])


def result(state: dict[str, Any]) -> ToolMessage:
    return next(m for m in state["messages"] if isinstance(m, ToolMessage))


async def test_tools_of_a_server_are_called(run: Run, connect: Any) -> None:
    model = ScriptedChatModel([call("price", item="pen"), "done"])

    state = await run(create_agent(model, connect().tools()), {"messages": "buy"})

    assert result(state).text == "pen costs 5"
    offered = {t["function"]["name"]: t["function"] for t in model.options[0]["tools"]}
    assert offered["price"]["description"] == "Say the price of an item."
    assert "item" in offered["price"]["parameters"]["properties"]
    assert "odd_name_" in offered


async def test_failure_is_an_error_result(run: Run, connect: Any) -> None:
    model = ScriptedChatModel([call("price", item="moon"), "done"])

    message = result(await run(create_agent(model, connect().tools()), {"messages": "buy"}))

    assert message.status == "error"
    assert "not for sale" in message.text


async def test_structured_content_is_the_artifact(run: Run, connect: Any) -> None:
    model = ScriptedChatModel([call("odd_name_"), "done"])

    message = result(await run(create_agent(model, connect().tools()), {"messages": "go"}))

    assert message.artifact == {"result": [1, 2]}


@pytest.mark.parametrize(
    ("answer", "said", "paid"),
    [
        ({"action": "accept", "content": {"amount": 7}}, "paid 7", [7]),
        ({"action": "decline"}, "not paid: decline", []),
        ({"action": "cancel"}, "not paid: cancel", []),
    ],
)
async def test_question_of_a_server_pauses_the_run(
    run: Run, connect: Any, shop: Shop, answer: Any, said: str, paid: list[int]
) -> None:
    model = ScriptedChatModel([call("pay"), "done"])
    agent = create_agent(model, connect().tools(), checkpointer=InMemorySaver())

    paused = await run(agent, {"messages": "pay"}, THREAD)
    question = paused["__interrupt__"][0].value
    assert (question["server"], question["tool"], question["message"]) == (
        "shop",
        "pay",
        "How much?",
    )
    assert "amount" in question["schema"]["properties"]
    state = await run(agent, Command(resume=answer), THREAD)

    assert result(state).text == said
    assert shop.paid == paid


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        {},
        {"action": "maybe"},
        {"action": "accept", "content": {"amount": "much"}},
        {"action": "accept"},
    ],
)
async def test_answer_that_does_not_fit_leaves_the_pause_as_it_was(
    run: Run, connect: Any, shop: Shop, answer: Any
) -> None:
    model = ScriptedChatModel([call("pay"), "done"])
    agent = create_agent(model, connect().tools(), checkpointer=InMemorySaver())
    await run(agent, {"messages": "pay"}, THREAD)

    with pytest.raises(ValidationError):
        await run(agent, Command(resume=answer), THREAD)
    await run(agent, Command(resume={"action": "accept", "content": {"amount": 1}}), THREAD)

    assert shop.paid == [1]


async def test_resources_are_read(run: Run, connect: Any) -> None:
    model = ScriptedChatModel([call("s_read_resource", uri="shop://rules"), "done"])
    tools = connect(prefix="s_", read_resources=True).tools()

    state = await run(create_agent(model, tools), {"messages": "rules?"})

    assert "no refunds" in result(state).text
    assert "shop://rules" in tools[-1].description


def test_only_wanted_tools_are_taken_and_missing_ones_named(connect: Any) -> None:
    assert [t.name for t in connect(tools=["price"]).tools()] == ["price"]
    with pytest.raises(ConfigurationError, match=r"no tools refund; it has .*price"):
        connect(tools=["refund"]).tools()


def test_closed_connection_is_opened_again(connect: Any) -> None:
    server = connect()
    (tool,) = [t for t in server.tools() if t.name == "price"]
    server.close()

    assert tool.invoke({"item": "pen"}) == "pen costs 5"


@pytest.mark.slow
def test_server_as_a_program_inherits_no_secrets(
    connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mcp import StdioServerParameters  # noqa: PLC0415

    monkeypatch.setenv("OPENAI_API_KEY", "hush")
    program = (
        "import os\nfrom mcp.server.mcpserver import MCPServer\ns = MCPServer('x')\n"
        "@s.tool()\ndef env() -> str:\n    'Environment.'\n    return repr(dict(os.environ))\ns.run()\n"
    )
    server = connect(StdioServerParameters(command=sys.executable, args=["-c", program]))
    (tool,) = server.tools()

    assert "hush" not in tool.invoke({})


def test_server_that_cannot_be_reached_is_named(connect: Any) -> None:
    with pytest.raises(ConfigurationError, match="'shop' gives no tools"):
        connect("http://127.0.0.1:1/mcp").tools()


@pytest.mark.parametrize("settings", [{"timeout_s": 0}, {"tools": "price"}])
def test_wrong_setting_is_refused(connect: Any, settings: Any) -> None:
    with pytest.raises(ConfigurationError):
        connect(**settings)


@pytest.fixture
def address(shop: Shop) -> Iterator[str]:
    """The shop behind HTTP on loopback."""
    import uvicorn  # noqa: PLC0415

    app: Any = shop.server.streamable_http_app()
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_level="error", ws="none", timeout_graceful_shutdown=1
    )
    web = uvicorn.Server(config)
    thread = threading.Thread(target=web.run, daemon=True)
    thread.start()
    while not web.started:
        assert thread.is_alive()
        thread.join(0.01)
    port = web.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}/mcp"
    web.should_exit = True
    thread.join()


async def test_server_behind_http_answers_reads_and_asks(
    run: Run, shop: Shop, address: str, connect: Any
) -> None:
    tools = connect(address, read_resources=True).tools()
    steps = [call("price", item="pen"), call("read_resource", uri="shop://rules"), call("pay")]
    agent = create_agent(ScriptedChatModel([*steps, "done"]), tools, checkpointer=InMemorySaver())

    paused = await run(agent, {"messages": "buy"}, THREAD)
    assert paused["__interrupt__"][0].value["message"] == "How much?"
    state = await run(agent, Command(resume={"action": "accept", "content": {"amount": 3}}), THREAD)

    said = [m.text for m in state["messages"] if isinstance(m, ToolMessage)]
    assert said == ["pen costs 5", "no refunds", "paid 3"]
    assert shop.paid == [3]
