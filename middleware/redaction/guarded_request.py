"""A model request that keeps its guard: whatever model a layer further in puts there is guarded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..request import ModelRequest
from .guarded_model import GuardedChatModel, ReplyGuard

_REMEMBERED = 16


class GuardedRequest(ModelRequest[Any]):
    """A request whose model, now and after any ``override``, is a guarded one."""

    @classmethod
    def of(cls, request: ModelRequest[Any], protect: Callable[[Any], Any]) -> GuardedRequest:
        """``request`` with its model, and any that takes its place, put through ``protect``."""
        inner: Callable[[Any], Any] | None = request.__dict__.get("_protect")

        def both(model: Any) -> Any:
            return protect(model if inner is None else inner(model))

        copy = object.__new__(cls)
        copy.__dict__.update(request.__dict__)
        copy.__dict__["model"] = protect(request.model)
        copy.__dict__["_protect"] = both
        return copy

    def override(self, **changes: Any) -> ModelRequest[Any]:
        """A request with some fields replaced; a new model is guarded like the old one."""
        if "model" in changes:
            changes["model"] = self.__dict__["_protect"](changes["model"])
        return super().override(**changes)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, self.__dict__["_protect"](value) if name == "model" else value)


class ModelGuards:
    """Guarded forms of models, made once per model: bound models are looked up by identity."""

    def __init__(self, guard: ReplyGuard) -> None:
        self._guard = guard
        self._made: OrderedDict[int, tuple[Any, GuardedChatModel]] = OrderedDict()

    def __call__(self, model: Any) -> GuardedChatModel:
        """The guarded form of ``model``, or ``model`` if this very guard is on it."""
        if isinstance(model, GuardedChatModel) and model.guard is self._guard:
            return model
        known = self._made.get(id(model))
        if known is not None and known[0] is model:
            return known[1]
        guarded = GuardedChatModel.around(model, self._guard)
        self._made[id(model)] = (model, guarded)
        if len(self._made) > _REMEMBERED:
            self._made.popitem(last=False)
        return guarded
