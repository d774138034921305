"""What the model asks the engine, with a stand-in for the engine that answers by a table."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel

from interlock.graph.models import EmbeddedChatModel
from interlock.state.errors import StructuredOutputError
from interlock.state.model_errors import ChatModelServerError

STAND_IN = """
import json, pathlib

TABLE = json.loads(pathlib.Path(__file__).with_name("table.json").read_text())

class Needle:
    def __init__(self, tools, system, auto_date):
        self.names = "+".join(tool["name"] for tool in json.loads(tools))
        self.log = pathlib.Path(__file__).with_name("log.jsonl").open("a")

    def reset(self):
        pass

    def complete(self, text, max_new_tokens):
        self.log.write(json.dumps([self.names, text]) + "\\n")
        self.log.flush()
        answer = TABLE.get(self.names + ": " + text) or TABLE.get(self.names) or {}
        if answer == "fail":
            raise RuntimeError("out of order")
        return {"function_calls": [], "confidence": 0.9, "reasoning": "No tool fits.", **answer}
"""


@tool
def find_course(topic: str) -> str:
    """Find a course."""
    return topic


class Course(BaseModel):
    """A course."""

    name: str


class Engine:
    """The stand-in and the model that talks to it."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "needle"
        self.package.mkdir()
        (self.package / "__init__.py").write_text(STAND_IN)
        for name in ("needle3.cact", "libneedle3.so"):
            (self.package / name).touch()
        self.answers()

    def answers(self, **table: Any) -> None:
        (self.package / "table.json").write_text(json.dumps(table))

    @property
    def asked(self) -> list[list[str]]:
        """Tools and text of each request."""
        lines = (self.package / "log.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "platform", "linux")
    return Engine(tmp_path)


@pytest.fixture
def build(engine: Engine) -> Iterator[Callable[..., EmbeddedChatModel]]:
    assert engine.package.exists()
    built: list[EmbeddedChatModel] = []

    def make(**settings: Any) -> EmbeddedChatModel:
        built.append(EmbeddedChatModel(**settings))
        return built[-1]

    yield make
    for model in built:
        model.close()


Build = Callable[..., EmbeddedChatModel]


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def called(message: AIMessage) -> list[tuple[str, dict[str, Any]]]:
    return [(made["name"], made["args"]) for made in message.tool_calls]


FOUND = [
    HumanMessage("Find a course."),
    AIMessage("", tool_calls=[ToolCall(name="find_course", args={"topic": "x"}, id="c1")]),
    ToolMessage("Course: Python", tool_call_id="c1"),
]
AGAIN = {"Course": {"function_calls": [call("Course", name="Python")]}}


def test_a_history_is_told_and_only_once(build: Build, engine: Engine) -> None:
    bound = build().bind_tools([find_course])
    bound.invoke(FOUND[:1])
    reply = bound.invoke(FOUND)
    assert engine.asked == [
        ["find_course", "Find a course."],
        ["find_course", '["Course: Python"]'],
    ]
    assert reply.text == "Course: Python"


def test_facts_start_another_engine(build: Build, engine: Engine) -> None:
    bound = build().bind_tools([find_course])
    bound.invoke([SystemMessage("Be kind."), *FOUND[:1]])
    bound.invoke([SystemMessage("Be kind.\ndate: 2026-12-01"), *FOUND])
    assert [text for _, text in engine.asked] == [
        FOUND[0].text,
        FOUND[0].text,
        '["Course: Python"]',
    ]


def test_a_named_tool_is_the_only_one_offered(build: Build, engine: Engine) -> None:
    engine.answers(**AGAIN)
    reply = build().bind_tools([find_course, Course], tool_choice="Course").invoke("Python")
    assert engine.asked == [["Course", "Python"]]
    assert called(reply) == [("Course", {"name": "Python"})]


def test_a_call_that_is_due_after_results_is_asked_for_apart(build: Build, engine: Engine) -> None:
    engine.answers(**AGAIN)
    reply = build().bind_tools([find_course, Course], tool_choice="any").invoke(FOUND)
    assert engine.asked[-1] == ["Course", "Find a course.\nfind_course: Course: Python"]
    assert called(reply) == [("Course", {"name": "Python"})]


@pytest.mark.parametrize(("confidence", "name"), [(0.9, "find_course"), (0.1, "Course")])
def test_after_results_a_call_that_is_due_must_not_be_in_doubt(
    build: Build, engine: Engine, confidence: float, name: str
) -> None:
    another = {"function_calls": [call("find_course", topic="y")], "confidence": confidence}
    engine.answers(**AGAIN, **{'find_course+Course: ["Course: Python"]': another})
    reply = build().bind_tools([find_course, Course], tool_choice="any").invoke(FOUND)
    assert [made for made, _ in called(reply)] == [name]


def test_without_results_a_call_in_doubt_is_made_where_one_is_due(
    build: Build, engine: Engine
) -> None:
    engine.answers(Course={"suppressed_calls": [call("Course", name="Go")], "confidence": 0.01})
    assert build().with_structured_output(Course).invoke("Go") == Course(name="Go")


def test_a_record_that_is_not_there_is_an_error(build: Build, engine: Engine) -> None:
    assert engine.package.exists()
    with pytest.raises(StructuredOutputError, match="Course"):
        build().with_structured_output(Course).invoke("Nothing")


def test_a_failure_of_the_engine_leaves_the_model_usable(build: Build, engine: Engine) -> None:
    engine.answers(**{"find_course: bad": "fail"})
    bound = build().bind_tools([find_course])
    with pytest.raises(ChatModelServerError, match="out of order"):
        bound.invoke("bad")
    assert bound.invoke("good").text == "No tool fits."


def test_a_closed_model_starts_again(build: Build, engine: Engine) -> None:
    assert engine.package.exists()
    model = build()
    bound = model.bind_tools([find_course])
    bound.invoke("one")
    model.close()
    assert bound.invoke("two").text == "No tool fits."


def test_threads_with_several_tool_sets_share_two_processes(build: Build, engine: Engine) -> None:
    names = ["a", "b", "c", "d"]
    engine.answers(
        **{
            f"{name}: {n}": {"function_calls": [call(name, n=n)]}
            for name in names
            for n in range(3)
        }
    )
    model = build(max_workers=2, strict=False)

    def ask(number: int) -> Any:
        name = names[number % 4]
        bound = model.bind_tools([{"name": name, "description": "A tool."}])
        return called(bound.invoke(str(number // 4)))[0]

    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(ask, range(12)))
    assert replies == [(names[number % 4], {"n": number // 4}) for number in range(12)]
