"""What a program lets a stored agent name: tools, functions, classes and objects of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from ...state.errors import ConfigurationError
from ...state.suggestion import did_you_mean

T = TypeVar("T")


class Registry:
    """Names for what a stored agent is made of besides data; nothing else is ever looked up.

    >>> registry = Registry()
    >>> @registry.register
    ... def add(a: int, b: int) -> int:
    ...     "Add two numbers."
    ...     return a + b
    >>> registry.name_of(add)
    'add'

    Args:
        *values: Tools, functions, classes, middleware, hooks: each under its own name.
        secrets: Environment variables that a stored model may read. Any other name is refused,
            since whoever writes the file could send what is in it anywhere.
        addresses: Addresses beside a provider's own that a stored model may talk to, with what it
            is given and the provider's key.
        providers: Providers that a stored model may be of, such as ``"anthropic"``: what is
            installed for a provider is imported. None allows the embedded model and those that
            interlock's own client talks to, but for Hugging Face.
        **named: The same under other names.

    Raises:
        ConfigurationError: A value has no name of its own, or two share one.
    """

    def __init__(
        self,
        *values: Any,
        secrets: Iterable[str] = (),
        addresses: Iterable[str] = (),
        providers: Iterable[str] | None = None,
        **named: Any,
    ) -> None:
        self._values: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self.secrets = frozenset(secrets)
        self.addresses = frozenset(address.rstrip("/") for address in addresses)
        self.providers = None if providers is None else frozenset(providers)
        for value in values:
            self.register(value)
        for name, value in named.items():
            self.register(value, name)

    def register(self, value: T, name: str | None = None) -> T:
        """Give a value its name; usable as a decorator.

        Returns:
            The value.

        Raises:
            ConfigurationError: It has no name of its own, or the name is taken.
        """
        title: Any = name or _own_name(value)
        if not isinstance(title, str) or not title:
            msg = f"{value!r} has no name of its own; register it under one."
            raise ConfigurationError(msg)
        if self._values.get(title, value) is not value:
            msg = f"The registry has another {title!r}; register one of them under another name."
            raise ConfigurationError(msg)
        self._values[title] = value
        self._names.setdefault(id(value), title)
        return value

    def include(self, other: Registry) -> None:
        """Take over everything of another registry.

        Raises:
            ConfigurationError: A name means different things in them.
        """
        for name, value in other._values.items():
            self.register(value, name)
        self.secrets |= other.secrets
        self.addresses |= other.addresses
        if other.providers is not None:
            self.providers = (self.providers or frozenset()) | other.providers

    def name_of(self, value: Any) -> str | None:
        """The name of this very value, or None."""
        return self._names.get(id(value))

    def get(self, name: Any, where: str) -> Any:
        """The value of a name.

        Args:
            name: What a file says.
            where: Where it says so, for the error.

        Raises:
            ConfigurationError: Nothing has this name.
        """
        if not isinstance(name, str) or name not in self._values:
            known = ", ".join(sorted(self._values)) or "nothing"
            hint = did_you_mean(name, self._values) if isinstance(name, str) else ""
            msg = (
                f"{where} names {name!r}, which is not registered; the registry has {known}.{hint} "
                "Register what it stands for: Registry(...) or registry.register."
            )
            raise ConfigurationError(msg)
        return self._values[name]

    def class_named(self, name: str) -> type[Any] | None:
        """The class that was registered under a name, if one was."""
        value = self._values.get(name)
        return value if isinstance(value, type) else None

    @property
    def types(self) -> dict[str, type[Any]]:
        """All registered classes by name."""
        return {name: v for name, v in self._values.items() if isinstance(v, type)}


def _own_name(value: Any) -> Any:
    if isinstance(value, type):
        return value.__name__
    name = getattr(value, "name", None)
    return name if isinstance(name, str) and name else getattr(value, "__name__", None)
