"""The whole command, as a process."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # each test is a process

Chat = Callable[..., "subprocess.CompletedProcess[str]"]

TOOLS = '''
def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b
'''


def called(name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}


def test_piped_lines_are_answered_in_order(chat: Chat, provider: Callable[..., Any]) -> None:
    server = provider([{"content": "Hel"}, {"content": "lo"}], [{"content": "Bye\n"}])
    done = chat(
        "hi\n\nbye\n", "--model", "llamacpp:m", "--base-url", server.url, "--system", "Be brief."
    )
    assert (done.stdout, done.stderr, done.returncode) == ("Hello\nBye\n", "", 0)
    assert server.asked(1) == [
        ("system", "Be brief."),
        ("user", "hi"),
        ("assistant", "Hello"),
        ("user", "bye"),
    ]


def test_a_tool_is_shown_with_arguments_and_result(
    chat: Chat, provider: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "sums.py").write_text(TOOLS)
    server = provider([called("add", a=2, b=40)], [{"content": "It is 42."}])
    done = chat("2 + 40?", "--model", "llamacpp:m", "--base-url", server.url, "--tools", "sums:add")
    assert done.stderr.splitlines() == ["[add(a=2, b=40)]", "[add -> 42]"]
    assert (done.stdout, done.returncode) == ("It is 42.\n", 0)


def test_an_error_is_one_line_and_the_chat_goes_on(
    chat: Chat, provider: Callable[..., Any]
) -> None:
    server = provider(401, [{"content": "Here I am."}])
    done = chat("hi\nstill there?\n", "--model", "llamacpp:m", "--base-url", server.url)
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ChatModelAuthenticationError: ")
    assert (done.stdout, done.returncode) == ("Here I am.\n", 1)
    assert server.asked(1) == [("user", "hi"), ("user", "still there?")]


def test_a_thread_goes_on_in_another_process(
    chat: Chat, provider: Callable[..., Any], tmp_path: Path
) -> None:
    server = provider(*([{"content": word}] for word in ("one", "two", "three")))
    for line, thread_id in (("a", "x"), ("b", "x"), ("c", "y")):
        where = ("--thread", "talk.sqlite", "--thread-id", thread_id)
        assert chat(line, "--model", "llamacpp:m", "--base-url", server.url, *where).returncode == 0
    assert server.asked(1) == [("user", "a"), ("assistant", "one"), ("user", "b")]
    assert server.asked(2) == [("user", "c")]
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "talk.sqlite").stat().st_mode) == 0o600


def test_the_key_comes_from_dotenv_and_is_not_shown(
    chat: Chat, provider: Callable[..., Any], tmp_path: Path
) -> None:
    server = provider(401)
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY=sk-hidden\nOPENAI_BASE_URL={server.url}\n")
    done = chat("hi\n", "--model", "openai:gpt-5", "--temperature", "0.5")
    assert server.keys == ["Bearer sk-hidden"]
    assert server.bodies[0]["temperature"] == 0.5
    assert "sk-hidden" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--model", "openai:gpt-5"], 2, "OPENAI_API_KEY"),
        (["--model", "llamacpp:m", "--thread-id", "x"], 2, "--thread FILE"),
    ],
)
def test_what_cannot_begin_is_said_without_a_traceback(
    chat: Chat, arguments: list[str], code: int, words: str
) -> None:
    done = chat("hi\n", *arguments)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_embedded_model_uses_a_tool(chat: Chat, tmp_path: Path) -> None:
    if find_spec("needle") is None:
        pytest.skip("the embedded model is not installed")
    (tmp_path / "sums.py").write_text(TOOLS)
    done = chat("Add 2 and 40.\n/exit\n???", "--model", "embedded:needle3", "--tools", "sums:add")
    assert (done.stdout, done.returncode) == ("42\n", 0)
    assert "[add(a=2, b=40)]" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is needed")
def test_on_a_terminal_lines_are_prompted_for_until_the_end_of_input(
    provider: Callable[..., Any], command: list[str], environment: Mapping[str, str], tmp_path: Path
) -> None:
    server = provider([{"content": "Hello\x1b[2J"}], 401)
    mine, theirs = os.openpty()
    os.write(mine, b"hi\nand now?\n\x04")
    arguments = ["--model", "llamacpp:m", "--base-url", server.url]
    process = subprocess.Popen(
        [*command, *arguments],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**environment, "TERM": "dumb"},
        cwd=tmp_path,
    )
    os.close(theirs)
    out, err = (stream.decode() for stream in process.communicate(timeout=120))
    os.close(mine)
    assert process.returncode == 0
    assert out.count("> ") == 3
    assert "Hello\N{REPLACEMENT CHARACTER}[2J\n" in out
    assert "/exit or Ctrl-D ends" in err
    assert "ChatModelAuthenticationError" in err
