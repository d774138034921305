"""Writing an agent down, and reading it back."""

from __future__ import annotations

from typing import Any, Self

from ...state.errors import ConfigurationError
from ..serialization import Registry, read_document, read_yaml, write_document, write_yaml
from .settings import NAMES


class Storable:
    """What is made of settings alone, and can be made of them again."""

    _given: dict[str, Any]

    def to_dict(self, registry: Registry | None = None) -> dict[str, Any]:
        """The settings as plain data, for JSON or YAML.

        Args:
            registry: Names for tools, functions, classes and objects of your own.

        Raises:
            ConfigurationError: A setting holds something without a name, or a secret; the
                message says what to register.
        """
        given = {k: v for k, v in self._given.items() if k != "tools" or v is not None}
        return write_document(given, registry)

    @classmethod
    def from_dict(cls, data: Any, registry: Registry | None = None) -> Self:
        """The agent that :meth:`to_dict` wrote down.

        Nothing in the data is imported or called. It may name what the registry holds and the
        guardrails of this library that reach nothing; see ``SECURITY.md``.

        Args:
            data: Plain data, from wherever.
            registry: What it may name.

        Raises:
            ConfigurationError: The data is of another version or form, names something unknown,
                or holds a wrong setting.
        """
        settings = read_document(data, NAMES, registry)
        try:
            return cls(**settings)
        except (TypeError, ValueError, AttributeError) as error:
            if isinstance(error, ConfigurationError):
                raise
            msg = f"The stored agent has a setting of a wrong type: {error}"
            raise ConfigurationError(msg) from error

    def to_yaml(self, registry: Registry | None = None) -> str:
        """:meth:`to_dict` as YAML."""
        return write_yaml(self.to_dict(registry))

    @classmethod
    def from_yaml(cls, text: str, registry: Registry | None = None) -> Self:
        """The agent that :meth:`to_yaml` wrote down; see :meth:`from_dict`.

        Raises:
            ConfigurationError: Also if the text has tags, anchors, a key twice, or is too long.
        """
        return cls.from_dict(read_yaml(text), registry)
