"""What traces show of requests, states and updates: all but private state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from typing import Any, cast

from langgraph.types import Command

from .request import ExtendedModelResponse


class HookInput(dict[str, Any]):
    """The state as the recorded input of a hook's run.

    langgraph (1.2.24) takes the messages among the ``values()`` of such an input for messages
    that have been streamed, and would never stream a reply that a hook sees first. Tracers read
    the items.
    """

    def values(self) -> Any:
        """Nothing."""
        return ()


def without_keys(value: Any, private: frozenset[str]) -> Any:
    """A state, update, request or result without private keys; the same object if it has none.

    Args:
        value: What would be recorded. Objects of other kinds come back as they are.
        private: State keys that are not to be seen.
    """
    if not private:
        return value
    if isinstance(value, Mapping):
        shown = cast("Mapping[str, Any]", value)
        kept = {k: _without_in_request(v, private) for k, v in shown.items() if k not in private}
        same = len(kept) == len(shown) and all(kept[k] is shown[k] for k in kept)
        return shown if same else kept
    if isinstance(value, Command):
        return _command(cast("Command[Any]", value), private)
    if isinstance(value, ExtendedModelResponse):
        response = cast("ExtendedModelResponse[Any]", value)
        if response.command is None:
            return response
        return ExtendedModelResponse(
            response.model_response, without_keys(response.command, private)
        )
    if isinstance(value, list):
        return [without_keys(item, private) for item in cast("list[Any]", value)]
    return value


def _command(command: Command[Any], private: frozenset[str]) -> Command[Any]:
    update = without_keys(command.update, private)
    return command if update is command.update else replace(command, update=update)


def _without_in_request(value: Any, private: frozenset[str]) -> Any:
    """A request of a layer whose state, and that of its runtime, has no private keys."""
    state = getattr(value, "state", None)
    if not isinstance(state, Mapping) or not hasattr(value, "override"):
        return value
    shown = without_keys(state, private)
    runtime: Any = getattr(value, "runtime", None)
    changes: dict[str, Any] = {"state": shown}
    if is_dataclass(runtime) and hasattr(runtime, "state"):
        # The config leads to the engine's channels, and these to everything.
        changes["runtime"] = replace(cast("Any", runtime), state=shown, config={})
    return value.override(**changes)
