"""Reading an agent's file, with what the person at the command line lets it name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ....state.errors import ConfigurationError
from ...blueprint import Agent
from ...serialization import MAX_CHARS, Registry
from ..named_object import named_object


@dataclass(frozen=True)
class Allowed:
    """What a file may name, besides the guardrails of this library."""

    registered: Sequence[str] = ()
    """Tools, functions and classes, lists of them, or registries, as ``package.module:name``."""
    secrets: Sequence[str] = ()
    """Environment variables that its model may read."""
    addresses: Sequence[str] = ()
    """Addresses that its model may talk to."""
    providers: Sequence[str] | None = None
    """Providers that its models may be of; None for those that any file may name."""

    def registry(self) -> Registry:
        """All of it as a registry.

        Raises:
            ConfigurationError: A name cannot be imported, or two things share one.
        """
        registry = Registry(
            secrets=self.secrets, addresses=self.addresses, providers=self.providers
        )
        for name in self.registered:
            not_a_name = "is no name of an object. Write it like package.module:name."
            found = named_object("--register", name, not_a_name)
            if isinstance(found, Registry):
                registry.include(found)
            elif isinstance(found, (list, tuple)):
                for value in cast("Sequence[Any]", found):
                    registry.register(value)
            else:
                registry.register(found)
        return registry


def read_agent(path: Path, allowed: Allowed) -> Agent:
    """The agent in a YAML or JSON file.

    Raises:
        ConfigurationError: The file cannot be read, is too long, or holds no agent that these
            names can make.
    """
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_CHARS + 1)
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path} cannot be read: {error}. Name a YAML file that Agent.to_yaml wrote."
        raise ConfigurationError(msg) from error
    return Agent.from_yaml(text, allowed.registry())
