"""Pauses of an agent inside a tool call: they are pauses of the thread around it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from interlock.graph import aanswer, agent_tool, answer, pending
from interlock.middleware import AgentMiddleware, HumanInTheLoopMiddleware, NotWaitingError

Calling = Callable[..., AIMessage]
Agents = Callable[..., Any]
GO: dict[str, Any] = {"messages": "go"}


@pytest.fixture
def asking(agents: Agents, office: Any, calling: Calling) -> Callable[..., Any]:
    """``asking("name")``: a tool whose agent looks something up, asks a person, and tells."""

    def make(name: str, **options: Any) -> Any:
        inner = agents(
            name,
            calling(("look", {"what": name})),
            calling(("ask", {"question": f"{name}?"}), start=2),
            said(f"{name}: "),
            tools=list(office.values()),
        )
        return agent_tool(inner, description="Ask.", **options)

    return make


def said(before: str = "") -> Callable[[list[BaseMessage]], str]:
    """A step of a script: the last message, with a text before it."""
    return lambda messages: f"{before}{messages[-1].text}"


def told(result: Any) -> list[str]:
    return [m.text for m in result["messages"] if m.type == "tool"]


async def test_an_inner_pause_is_answered_outside_and_nothing_runs_twice(
    run: Any, agents: Agents, asking: Any, calling: Calling, log: list[str], thread: Any
) -> None:
    boss = agents("boss", calling(("x", {"task": "t"})), "done", tools=[asking("x")], checkpointer=InMemorySaver())  # fmt: skip
    paused = await run(boss, GO, thread)
    assert [i.value for i in paused["__interrupt__"]] == ["x?"]
    result = await run(boss, Command(resume="yes"), thread)
    assert (told(result), log) == (["x: yes"], ["look x", "x? yes"])


async def test_agents_side_by_side_are_answered_by_id_in_any_order(
    run: Any, agents: Agents, asking: Any, calling: Calling, log: list[str], thread: Any
) -> None:
    both = calling(("x", {"task": "t"}), ("y", {"task": "t"}))
    boss = agents("boss", both, "done", tools=[asking("x"), asking("y")], checkpointer=InMemorySaver())  # fmt: skip
    paused = await run(boss, GO, thread)
    ids = {i.value: i.id for i in paused["__interrupt__"]}
    assert sorted(ids) == ["x?", "y?"]
    half = await run(boss, Command(resume={ids["y?"]: "no"}), thread)
    assert [i.value for i in half["__interrupt__"]] == ["x?"]
    result = await run(boss, Command(resume={ids["x?"]: "yes"}), thread)
    assert told(result) == ["x: yes", "y: no"]
    assert sorted(log) == ["look x", "look y", "x? yes", "y? no"]


async def test_two_calls_of_one_agent_pause_and_go_on_separately(
    run: Any, agents: Agents, calling: Calling, log: list[str], thread: Any
) -> None:
    # One model serves both conversations, so the script says what each of them says.
    def reply(messages: list[Any]) -> Any:
        if messages[-1].type == "human":
            return calling(("ask", {"question": messages[-1].text}))
        return messages[-1].text

    x = agent_tool(agents("x", reply, tools=[_ask(log)]), description="Ask.")
    both = calling(("x", {"task": "a"}), ("x", {"task": "b"}))
    boss = agents("boss", both, "done", tools=[x], checkpointer=InMemorySaver())
    paused = await run(boss, GO, thread)
    answers = {i.id: f"{i.value}!" for i in paused["__interrupt__"]}
    assert len(answers) == 2
    result = await run(boss, Command(resume=answers), thread)
    assert (told(result), sorted(log)) == (["a!", "b!"], ["a", "b"])


def _ask(log: list[str]) -> Callable[..., str]:
    def ask(question: str) -> str:
        """Ask a person."""
        answer = str(interrupt(question))
        log.append(question)
        return answer

    return ask


async def test_a_pause_two_agents_deep_is_answered_outside(
    run: Any, agents: Agents, asking: Any, calling: Calling, log: list[str], thread: Any
) -> None:
    middle = agents("middle", calling(("x", {"task": "t"})), "passed on", tools=[asking("x")])
    tool = agent_tool(middle, description="Pass on.")
    boss = agents("boss", calling(("middle", {"task": "t"})), "done", tools=[tool], checkpointer=InMemorySaver())  # fmt: skip
    await run(boss, GO, thread)
    result = await run(boss, Command(resume="yes"), thread)
    assert (told(result), log) == (["passed on"], ["look x", "x? yes"])


@pytest.fixture
def reviewed(agents: Agents, office: Any, calling: Calling) -> Callable[..., Any]:
    """``reviewed("name")``: a tool whose agent may look something up once a person agrees."""

    def make(name: str) -> Any:
        inner = agents(
            name, calling(("look", {"what": name})), said(),
            tools=[office["look"]], middleware=[HumanInTheLoopMiddleware({"look": True})],
        )  # fmt: skip
        return agent_tool(inner, description="Look.")

    return make


@pytest.mark.parametrize("give", [answer, aanswer], ids=["sync", "async"])
async def test_inner_approvals_are_listed_and_decided_outside(
    agents: Agents, reviewed: Any, calling: Calling, log: list[str], thread: Any, give: Any
) -> None:
    both = calling(("x", {"task": "t"}), ("y", {"task": "t"}))
    boss = agents("boss", both, "done", tools=[reviewed("x"), reviewed("y")], checkpointer=InMemorySaver())  # fmt: skip
    boss.invoke(GO, thread)
    waiting = {p.args["what"]: p.id for p in pending(boss, thread)}
    decisions = {waiting["x"]: {"type": "approve"}, waiting["y"]: {"type": "reject"}}
    result = give(boss, decisions, thread)
    result = await result if give is aanswer else result
    texts = told(result)
    assert (texts[0], "reject" in texts[1], log) == ("x is fine", True, ["look x"])


def test_an_inner_approval_that_is_given_twice_is_refused(
    agents: Agents, reviewed: Any, calling: Calling, log: list[str], thread: Any
) -> None:
    both = calling(("x", {"task": "t"}), ("y", {"task": "t"}))
    boss = agents("boss", both, "done", tools=[reviewed("x"), reviewed("y")], checkpointer=InMemorySaver())  # fmt: skip
    boss.invoke(GO, thread)
    yes = {next(p.id for p in pending(boss, thread) if p.args["what"] == "x"): {"type": "approve"}}
    answer(boss, yes, thread)
    with pytest.raises(NotWaitingError):
        answer(boss, yes, thread)
    assert (log, [p.args["what"] for p in pending(boss, thread)]) == (["look x"], ["y"])


class AskFirst(AgentMiddleware[Any, Any, Any]):
    """Asks before each tool call, around it."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        interrupt("may I?")
        return handler(request)


async def test_a_new_call_of_a_remembering_agent_is_not_taken_for_its_last_one(
    run: Any, agents: Agents, calling: Calling, echo: Any, thread: Any
) -> None:
    # Approved inside the call, the agent begins in a graph that is being resumed.
    helper = agent_tool(agents("helper", echo), description="Help.", remember=True)
    calls = [calling(("helper", {"task": n}), start=i) for i, n in enumerate("ab")]
    boss = agents("boss", *calls, "done", tools=[helper], middleware=[AskFirst()], checkpointer=InMemorySaver())  # fmt: skip
    await run(boss, GO, thread)
    await run(boss, Command(resume="yes"), thread)
    result = await run(boss, Command(resume="yes"), thread)
    assert told(result) == ["a", "a | a | b"]


async def test_a_remembering_agent_pauses_and_goes_on(
    run: Any, agents: Agents, asking: Any, calling: Calling, log: list[str], thread: Any
) -> None:
    tool = asking("x", remember=True)
    boss = agents("boss", calling(("x", {"task": "t"})), "done", tools=[tool], checkpointer=InMemorySaver())  # fmt: skip
    await run(boss, GO, thread)
    result = await run(boss, Command(resume="yes"), thread)
    assert (told(result), log) == (["x: yes"], ["look x", "x? yes"])


async def test_a_remembering_agent_whose_pause_was_abandoned_begins_anew(
    run: Any, agents: Agents, calling: Calling, log: list[str], thread: Any
) -> None:
    steps = [calling(("ask", {"question": "q"})), said("told ")]
    tool = agent_tool(agents("x", *steps, tools=[_ask(log)]), description="A.", remember=True)
    asks = [calling(("x", {"task": n}), start=i) for i, n in enumerate("ab")]
    boss = agents("boss", *asks, "done", tools=[tool], checkpointer=InMemorySaver())
    await run(boss, GO, thread)
    result = await run(boss, GO, thread)
    assert (told(result)[-1], log) == ("told b", [])


def test_streams_carry_the_path_of_agents(agents: Agents, calling: Calling, thread: Any) -> None:
    lowest = agent_tool(agents("lowest", "hi"), description="Help.")
    middle = agent_tool(agents("middle", calling(("lowest", {"task": "a"})), "ok", tools=[lowest]), description="Help.")  # fmt: skip
    boss = agents("boss", calling(("middle", {"task": "a"})), "done", tools=[middle], checkpointer=InMemorySaver())  # fmt: skip
    chunks = list(boss.stream(GO, thread, subgraphs=True, stream_mode="updates"))
    paths = [tuple(part.split(":")[0] for part in path) for path, _ in chunks]
    assert list(dict.fromkeys(paths)) == [
        (), ("tools", "middle"), ("tools", "middle", "tools", "lowest"),
    ]  # fmt: skip


async def test_tokens_of_an_inner_agent_stream_with_its_path(
    agents: Agents, calling: Calling
) -> None:
    helper = agent_tool(agents("helper", "one two"), description="Help.")
    boss = agents("boss", calling(("helper", {"task": "a"})), "done", tools=[helper])
    stream = boss.astream(GO, stream_mode="messages", subgraphs=True)
    inner = [c[1][0].text async for c in stream if len(c[0]) > 1 and c[0][1].startswith("helper:")]
    assert "".join(inner).startswith("one two")


PROGRAM = '''
import json, sys
from pathlib import Path
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command, interrupt
from interlock.graph import agent_tool, create_agent
from interlock.graph.models import ScriptedChatModel

folder = Path(sys.argv[1])

def note(what):
    with (folder / "log").open("a") as out:
        out.write(what + "\\n")

def reply(name):
    def step(messages):
        note(f"{name} model")
        results = [m for m in messages if m.type == "tool"]
        call = lambda tool, args: AIMessage("", tool_calls=[{"name": tool, "args": args, "id": f"{name}{len(results)}", "type": "tool_call"}])
        if name == "boss":
            calls = [{"name": n, "args": {"task": "t"}, "id": n, "type": "tool_call"} for n in ("x", "y")]
            return "done" if results else AIMessage("", tool_calls=calls)
        return [call("look", {}), call("ask", {}), "told"][len(results)]
    return ScriptedChatModel([step], repeat_last=True)

def helper(name):
    def look() -> str:
        """Look."""
        note(f"{name} looks")
        return "fine"

    def ask() -> str:
        """Ask."""
        answer = interrupt(f"{name}?")
        note(f"{name} hears {answer}")
        return answer

    return agent_tool(create_agent(reply(name), [look, ask], name=name), description="Help.")

config = {"configurable": {"thread_id": "t"}}
with SqliteSaver.from_conn_string(str(folder / "threads.sqlite")) as saver:
    boss = create_agent(reply("boss"), [helper("x"), helper("y")], name="boss", checkpointer=saver)
    waiting = {i.value: i.id for i in boss.get_state(config).interrupts}
    first = min(waiting, default=None)
    value = Command(resume={waiting[first]: f"yes {first}"}) if first else {"messages": "go"}
    result = boss.invoke(value, config)
    print(json.dumps([[m.text for m in result["messages"]], len(result.get("__interrupt__", ()))]))
'''


@pytest.mark.slow
def test_agents_in_tools_go_on_in_new_processes(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-c", PROGRAM, str(tmp_path)]

    def step() -> Any:
        done = subprocess.run(command, check=True, capture_output=True, cwd=tmp_path, timeout=60)
        return json.loads(done.stdout)

    assert step()[1] == 2
    assert step()[1] == 1
    assert step() == [["go", "", "told", "told", "done"], 0]
    lines = (tmp_path / "log").read_text().split("\n")
    counts = {line: lines.count(line) for line in lines if line}
    assert counts == {
        "boss model": 2, "x model": 3, "y model": 3, "x looks": 1, "y looks": 1,
        "x hears yes x?": 1, "y hears yes y?": 1,
    }  # fmt: skip
