"""Chat models by name, for middleware that asks a model of its own.

What a name means is known to ``interlock.graph``, which imports this folder; this folder cannot
import it. So it hands its resolver over when it is imported itself.
"""

from __future__ import annotations

from collections.abc import Callable

from langchain_core.language_models import BaseChatModel

from ..state.errors import ConfigurationError

Resolver = Callable[[str], BaseChatModel]

RESOLVERS: list[Resolver] = []
"""The resolver in use; empty until ``interlock.graph`` is imported."""


def resolve_names_with(resolver: Resolver) -> None:
    """Let ``resolver`` say from now on which model a name means."""
    RESOLVERS[:] = [resolver]


def init_chat_model(name: str) -> BaseChatModel:
    """The chat model that ``"provider:model"`` means.

    Raises:
        ConfigurationError: Nothing here can tell, or there is no such model.
    """
    if not RESOLVERS:
        msg = f"Model {name!r} is given by name; import interlock.graph first, or pass a model."
        raise ConfigurationError(msg)
    return RESOLVERS[0](name)
