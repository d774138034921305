"""The process around the engine, with small programs in the engine's place."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from interlock.graph.models.embedded.worker import Worker
from interlock.state.errors import ChatModelError
from interlock.state.model_errors import (
    ChatModelConnectionError,
    ChatModelMalformedError,
    ChatModelRequestError,
    ChatModelServerError,
    ChatModelTimeoutError,
)

Start = Callable[..., Worker]

ECHO = """
import json, sys
print("{}", flush=True) if sys.stdin.readline() else sys.exit()
for line in sys.stdin:
    print(json.dumps({"answer": json.loads(line)}), flush=True)
"""


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[Worker] = []

    def run(program: str, *, timeout_s: float = 30) -> Worker:
        command = [sys.executable, "-I", "-c", textwrap.dedent(program)]
        started.append(Worker(command, {"tools": "[]", "facts": ""}, timeout_s=timeout_s))
        return started[-1]

    yield run
    for worker in started:
        worker.close()


def after_opening(answer: str) -> str:
    return f'import sys\nsys.stdin.readline()\nprint("{{}}", flush=True)\nsys.stdin.readline()\n{answer}'


def tell(worker: Worker, *inputs: str) -> Any:
    return worker.tell(inputs, max_tokens=8)


def test_only_what_is_new_is_told(start: Start) -> None:
    worker = start(ECHO)
    assert tell(worker, "a") == {"text": "a", "reset": True, "max_tokens": 8}
    assert tell(worker, "a", "b") == {"text": "b", "reset": False, "max_tokens": 8}
    assert worker.told == ("a", "b")


@pytest.mark.parametrize("inputs", [("a", "b"), ("a", "c"), ("x",), ("a",)])
def test_another_conversation_is_told_from_its_start(start: Start, inputs: tuple[str, ...]) -> None:
    worker = start(ECHO)
    tell(worker, "a", "b")
    assert tell(worker, *inputs)["reset"] is (len(inputs) == 1)
    assert worker.told == inputs


def test_texts_arrive_as_they_are(start: Start) -> None:
    text = "Ärger\n\u2028 \U0001f600"
    assert tell(start(ECHO), text)["text"] == text


def test_tools_that_the_engine_refuses_are_an_error_with_its_words(start: Start) -> None:
    program = """
    import sys
    sys.stdin.readline()
    print("context budget exceeded", file=sys.stderr, flush=True)
    print('{"failure": "RuntimeError: init failed"}', flush=True)
    sys.stdin.readline()
    """
    with pytest.raises(ChatModelRequestError, match=r"init failed \[context budget exceeded\]"):
        start(program)


FAILURES: list[tuple[str, type[ChatModelError], str, bool]] = [
    ("""print('{"failure": "it broke"}', flush=True)""", ChatModelServerError, "it broke", True),
    ("""print('{"answer": 3}', flush=True)""", ChatModelMalformedError, "answered 3", True),
    ("print('noise', flush=True)", ChatModelMalformedError, "wrote b'noise", False),
    ("print('[]', flush=True)", ChatModelMalformedError, r"wrote b'\[\]", False),
    ("sys.exit('no memory')", ChatModelConnectionError, r"exit code 1\) \[no memory\]", False),
]


@pytest.mark.parametrize(("answer", "error", "words", "usable"), FAILURES)
def test_a_failure_is_told_apart(
    start: Start, answer: str, error: type[ChatModelError], words: str, usable: bool
) -> None:
    worker = start(after_opening(answer + "\nsys.stdin.readline()"))
    with pytest.raises(error, match=words):
        tell(worker, "a")
    assert worker.usable is usable


def test_a_process_that_hangs_is_stopped(start: Start) -> None:
    worker = start(after_opening("sys.stdin.readline()"), timeout_s=30)
    worker.timeout_s = 0.05
    with pytest.raises(ChatModelTimeoutError, match=r"more than 0\.05 s"):
        tell(worker, "a")
    assert not worker.usable


def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ChatModelConnectionError, match="does not start"):
        Worker(["/nowhere/python"], {}, timeout_s=1)


def test_the_environment_silences_the_engine(start: Start) -> None:
    names = ["NEEDLE_TELEMETRY", "DO_NOT_TRACK", "HF_HUB_OFFLINE"]
    found = f"import os, json; print(json.dumps({{'answer': {{n: os.environ.get(n) for n in {names}}}}}), flush=True)"
    assert tell(start(after_opening(found + "\nsys.stdin.readline()")), "a") == {
        "NEEDLE_TELEMETRY": "0",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
    }


def test_a_closed_worker_is_unusable_and_says_so(start: Start) -> None:
    worker = start(ECHO)
    worker.close()
    assert not worker.usable
    with pytest.raises(ChatModelConnectionError):
        tell(worker, "a")
