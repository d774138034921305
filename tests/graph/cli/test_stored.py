"""`interlock run` and `interlock draw`, from a file to an answer and an exit code."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from interlock.graph import Agent
from interlock.graph.cli.app import build_app
from interlock.graph.models import ScriptedChatModel
from interlock.graph.serialization import Registry
from interlock.middleware import ModelCallLimitMiddleware
from interlock.state.errors import ConfigurationError, InvalidInputError

PARTS = '''
from langchain_core.messages import AIMessage
from langgraph.types import interrupt
from interlock.graph.models import ScriptedChatModel
from interlock.graph.serialization import Registry
from interlock.tools import tool


@tool
def double(n: int) -> int:
    """Double a number."""
    return 2 * n


@tool
def ask() -> str:
    """Ask a person."""
    return interrupt("may I?")


def call(name, **args):
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": "c", "type": "tool_call"}])


model = ScriptedChatModel([call("double", n=3), lambda messages: f"It is {messages[-1].text}."])
asking = ScriptedChatModel([call("ask")])
echo = ScriptedChatModel([lambda messages: " / ".join(m.text for m in messages)])
registry = Registry(double, ask, model=model, asking=asking, echo=echo)
'''
Command = Callable[..., Result]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "stored_parts.py").write_text(PARTS, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "stored_parts", raising=False)
    return tmp_path


@pytest.fixture
def command(place: Path) -> Command:
    """``command(text, "run", ...)``: what a command makes of an agent's file."""

    def run(text: str, name: str, *arguments: str, **options: Any) -> Result:
        (place / "agent.yaml").write_text(f"interlock: 1\nagent:\n{text}", "utf-8")
        parts = ["--register", "stored_parts:registry"]
        return CliRunner().invoke(build_app(), [name, "agent.yaml", *arguments, *parts], **options)

    return run


TALKING = "  model: {registered: model}\n  tools: [double]\n"
PROMPTED = (
    "  model: {registered: echo}\n  system_prompt: Speak {{ language }}.\n"
    "  user_prompt: 'Say: {{ text }}'\n  required_variables: [text]\n"
)


def test_a_stored_agent_answers(command: Command) -> None:
    result = command(TALKING, "run", "Double three")
    assert (result.stdout, result.stderr, result.exit_code) == ("It is 6.\n", "", 0)


def test_template_variables_are_set_by_name(command: Command) -> None:
    result = command(PROMPTED, "run", "--set", "language=Welsh", "--set", "text=a=b")
    assert (result.stdout, result.exit_code) == ("Speak Welsh. / Say: a=b\n", 0)


def test_the_question_may_come_from_standard_input(command: Command) -> None:
    result = command("  model: {registered: echo}\n", "run", "-", input="What is it?")
    assert result.stdout == "What is it?\n"


def test_a_structured_answer_is_written_as_json(command: Command) -> None:
    schema = "{title: double, type: object, properties: {n: {type: integer}}, required: [n]}"
    result = command(f"  model: {{registered: model}}\n  response_format: {schema}\n", "run", "go")
    assert (result.stdout, result.exit_code) == ('{"n": 3}\n', 0)


def test_an_end_that_is_no_answer_is_said(command: Command) -> None:
    result = command(f"{TALKING}  max_agent_steps: 1\n", "run", "go")
    assert (result.stderr, result.exit_code) == ("[max_agent_steps, 1 steps]\n", 0)


def test_a_pause_is_said(command: Command) -> None:
    stored = "  model: {registered: asking}\n  tools: [ask]\n"
    result = command(stored, "run", "go")
    assert result.exit_code == 1
    assert "waits for a person: may I?" in result.stderr


def test_a_missing_variable_is_named(command: Command) -> None:
    result = command(PROMPTED, "run")
    assert isinstance(result.exception, InvalidInputError)
    assert "need text" in str(result.exception)


@pytest.mark.parametrize("name", ["run", "draw"])
@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("  model: {registered: model}\n  tools: [os.system]\n", "'os.system'"),
        ("  model: !!python/object/apply:os.system ['true']\n", "tag"),
        (
            "  middleware: [{class: ShellToolMiddleware}]\n  model: openai:x\n",
            "ShellToolMiddleware",
        ),
    ],
)
def test_a_hostile_file_is_refused(command: Command, name: str, text: str, word: str) -> None:
    result = command(text, name)
    assert isinstance(result.exception, ConfigurationError)
    assert word in str(result.exception)


@pytest.mark.parametrize("name", ["run", "draw"])
def test_a_file_may_name_only_models_of_providers_that_are_allowed(
    command: Command, name: str
) -> None:
    text = "  model: anthropic:claude-x\n"
    refused = command(text, name)
    assert isinstance(refused.exception, ConfigurationError)
    assert "provider 'anthropic'" in str(refused.exception)
    allowed = command(text, name, "--allow-provider", "anthropic")
    assert name == "run" or allowed.exit_code == 0
    assert "Registry(providers=" not in str(allowed.exception)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--set", "novalue"], "novalue"),
        (["--set", "config=x"], "'config'"),
        (["--set", "a=1", "--set", "a=2"], "twice"),
        (["--register", "nonsense"], "nonsense"),
        (["--register", "stored_parts:nothing"], "nothing"),
    ],
)
def test_wrong_arguments_are_named(command: Command, arguments: list[str], word: str) -> None:
    result = command(TALKING, "run", "go", *arguments)
    assert isinstance(result.exception, ConfigurationError)
    assert word in str(result.exception)


def test_a_file_that_is_not_there_is_named(place: Path) -> None:
    result = CliRunner().invoke(build_app(), ["run", str(place / "none.yaml"), "go"])
    assert isinstance(result.exception, ConfigurationError)
    assert "none.yaml" in str(result.exception)


def test_a_file_of_other_bytes_is_refused(place: Path) -> None:
    (place / "agent.yaml").write_bytes(b"\xff\xfe")
    result = CliRunner().invoke(build_app(), ["run", "agent.yaml", "go"])
    assert isinstance(result.exception, ConfigurationError)


NAMED = (
    "  model: openai:gpt-5-mini\n  middleware: [{class: ModelCallLimitMiddleware, run_limit: 3}]\n"
)


def test_a_drawing_needs_no_key(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = command(NAMED, "draw", "--hooks")
    assert result.exit_code == 0
    assert result.stdout.startswith("%%{init")
    assert "openai:gpt-5-mini" in result.stdout
    assert "ModelCallLimitMiddleware" in result.stdout


def test_an_agent_without_tools_is_drawn_without_a_place_for_them(command: Command) -> None:
    assert "run the tools" not in command(NAMED, "draw", "--hooks").stdout


@pytest.mark.parametrize(("name", "begin"), [("a.svg", "<svg"), ("a.mmd", "%%{init")])
def test_a_drawing_may_go_into_a_file(command: Command, place: Path, name: str, begin: str) -> None:
    result = command(TALKING, "draw", "-o", name)
    written = (place / name).read_text("utf-8")
    assert (result.stdout, result.exit_code) == ("", 0)
    assert begin in written[:100]
    if name.endswith(".svg"):
        ET.fromstring(written)  # noqa: S314 - our own picture


@pytest.mark.parametrize("name", ["a.png", "nowhere/a.svg"])
def test_a_drawing_that_cannot_be_written_is_refused(command: Command, name: str) -> None:
    result = command(TALKING, "draw", "-o", name)
    assert isinstance(result.exception, ConfigurationError)
    assert "--output" in str(result.exception)


def test_what_one_program_saves_another_runs(place: Path) -> None:
    model = ScriptedChatModel([])
    agent = Agent(model=model, middleware=[ModelCallLimitMiddleware(run_limit=3)], name="saved")
    text = agent.to_yaml(Registry(echo=model))
    (place / "agent.yaml").write_text(text, "utf-8")
    arguments = ["run", "agent.yaml", "Hello", "--register", "stored_parts:registry"]
    assert CliRunner().invoke(build_app(), arguments).stdout == "Hello\n"


@pytest.mark.slow  # loads the embedded model
def test_a_saved_agent_runs_elsewhere_with_the_embedded_model_by_one_command(
    tmp_path: Path,
) -> None:
    schema = {
        "title": "set_timer",
        "description": "Set a timer.",
        "type": "object",
        "properties": {"minutes": {"type": "integer", "description": "Minutes"}},
        "required": ["minutes"],
    }
    saved = Agent(model="embedded:needle3", response_format=schema).to_yaml()
    (tmp_path / "agent.yaml").write_text(saved, "utf-8")
    command = [str(Path(sys.executable).with_name("interlock")), "run", "agent.yaml"]
    ran = subprocess.run(
        [*command, "Set a timer for 7 minutes"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ('{"minutes": 7}\n', "", 0)
