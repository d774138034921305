"""What ``interlock run`` and ``interlock draw`` do with a stored agent."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from ....state.errors import ConfigurationError
from ...blueprint import Agent
from ...settings import RUN_PARAMETERS

_PLAIN_ENDS = frozenset({"text", "structured_response"})


def ask(agent: Agent, question: str | None, inputs: Mapping[str, str]) -> bool:
    """Run an agent once and write its answer to standard output.

    Args:
        agent: The agent; it is closed afterwards.
        question: What is said to it; None leaves that to its user prompt.
        inputs: Template variables and state keys.

    Returns:
        Whether it came to its end; a pause that waits for a person is none.

    Raises:
        InvalidInputError: The input cannot be accepted.
        RunError: The run failed.
    """
    given: dict[str, Any] = {**inputs}
    with agent:
        result = agent.run(question, **given)
    if pauses := result.get("__interrupt__"):
        sys.stderr.write(f"The agent waits for a person: {pauses[0].value}\n")
        return False
    sys.stdout.write(f"{answer_of(result)}\n")
    reason = result.get("exit_reason")
    if reason not in _PLAIN_ENDS:
        sys.stderr.write(f"[{reason}, {result.get('step_count')} steps]\n")
    return True


def answer_of(result: Mapping[str, Any]) -> str:
    """The structured answer as JSON, or the text of the last message."""
    structured = result.get("structured_response")
    if structured is not None:
        return json.dumps(to_jsonable_python(structured), ensure_ascii=False)
    return str(result["last_message"].text)


def draw_to(agent: Agent, output: Path | None, *, hooks: bool) -> None:
    """Draw an agent's graph, as Mermaid text to standard output or into a file.

    Raises:
        ConfigurationError: The file's name ends in neither ``.svg`` nor ``.mmd``, or it cannot be
            written.
    """
    if output is None:
        sys.stdout.write(agent.draw(hooks=hooks))
        return
    if output.suffix not in (".svg", ".mmd"):
        msg = f"--output {str(output)!r} is no picture; end the name in .svg or .mmd."
        raise ConfigurationError(msg)
    picture = agent.draw_svg(hooks=hooks) if output.suffix == ".svg" else agent.draw(hooks=hooks)
    try:
        output.write_text(picture, encoding="utf-8")
    except OSError as error:
        msg = f"--output {str(output)!r} cannot be written: {error}."
        raise ConfigurationError(msg) from error


def inputs_of(pairs: list[str]) -> dict[str, str]:
    """Template variables given as ``name=value``.

    Raises:
        ConfigurationError: One is not of this form, or a name is given twice.
    """
    inputs: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier() or name in inputs:
            msg = f"--set {pair!r} is no name=value, or names a variable twice."
            raise ConfigurationError(msg)
        if name in RUN_PARAMETERS:
            msg = f"--set {name!r} is no variable of an agent; it belongs to the run itself."
            raise ConfigurationError(msg)
        inputs[name] = value
    return inputs
