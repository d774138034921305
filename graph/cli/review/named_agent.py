"""The agent that a person names on the command line."""

from __future__ import annotations

from typing import Any

from ....state.errors import ConfigurationError
from ...compiled import AgentGraph
from ..named_object import named_object


def named_agent(name: str) -> AgentGraph:
    """Import the agent whose threads are reviewed.

    Args:
        name: ``package.module:name`` of an agent, of an object with ``compile()``, or of a
            function without arguments that returns one of them.

    Raises:
        ConfigurationError: The name cannot be imported, or is no agent.
    """
    found: Any = named_object(
        "--agent", name, "is no name of an agent. Write it like package.module:agent."
    )
    for _ in range(3):
        if isinstance(found, AgentGraph):
            return found
        make = found if isinstance(found, type) else getattr(found, "compile", found)
        if not callable(make):
            break
        try:
            found = make()
        except Exception as error:  # boundary: the function is the user's
            msg = f"--agent {name!r}: making the agent failed with {type(error).__name__}: {error}."
            raise ConfigurationError(msg) from error
    if isinstance(found, AgentGraph):
        return found
    msg = (
        f"--agent {name!r} is a {type(found).__name__}, not an agent. Name what create_agent "
        "returned, or a function that returns it."
    )
    raise ConfigurationError(msg)
