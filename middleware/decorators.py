"""A middleware from a single function: one decorator per hook."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, iscoroutinefunction, signature
from typing import Any, overload

from langchain_core.messages import SystemMessage
from langchain_core.tools import BaseTool

from ..state.errors import ConfigurationError
from ..state.schema import AgentState, JumpTo
from .base import AgentMiddleware, hook_config
from .request import ModelRequest

Function = Callable[..., Any]
Middleware = AgentMiddleware[Any, Any, Any]
Decorator = Callable[[Function], Middleware]

_TWINS = frozenset(
    {
        "before_agent",
        "before_model",
        "wrap_model_call",
        "after_model",
        "wrap_tool_call",
        "after_agent",
    }
)
"""Hooks that middleware written for LangChain has in two forms."""


class HookDecorator:
    """Makes a middleware with one hook of a function, with or without settings.

    The function takes what the hook takes without ``self``: ``(state, runtime)``, or ``(state)``,
    or ``(request, handler)`` for a ``wrap_…`` hook. It may be ``def`` or ``async def``.
    """

    def __init__(self, point: str, doc: str) -> None:
        self.point = point
        self.__doc__ = doc
        self.__name__ = point

    @overload
    def __call__(self, function: Function, /) -> Middleware: ...

    @overload
    def __call__(
        self,
        function: None = None,
        /,
        *,
        state_schema: type[Any] | Mapping[str, Any] | None = None,
        tools: Sequence[BaseTool] | None = None,
        can_jump_to: Sequence[JumpTo] | None = None,
        interrupts: bool = False,
        name: str | None = None,
    ) -> Decorator: ...

    def __call__(
        self,
        function: Function | None = None,
        /,
        *,
        state_schema: type[Any] | Mapping[str, Any] | None = None,
        tools: Sequence[BaseTool] | None = None,
        can_jump_to: Sequence[JumpTo] | None = None,
        interrupts: bool = False,
        name: str | None = None,
    ) -> Middleware | Decorator:
        """Decorate a function, or give a decorator with these settings.

        Args:
            function: The hook, where the decorator is used without parentheses.
            state_schema: State keys that the middleware adds.
            tools: Tools that it adds.
            can_jump_to: The jumps that the hook may take.
            interrupts: The hook calls ``interrupt``.
            name: Name of the middleware; by default that of the function.

        Raises:
            ConfigurationError: A ``wrap_…`` hook is to jump.
        """
        if can_jump_to is not None and self.point.startswith("wrap_"):
            msg = f"{self.point} cannot jump; return a response, or use a before or after hook."
            raise ConfigurationError(msg)

        def decorate(hook: Function) -> Middleware:
            marked = _method(hook)
            if can_jump_to is not None:
                marked = hook_config(can_jump_to=can_jump_to)(marked)
            title = name or str(getattr(hook, "__name__", type(hook).__name__))
            members = {
                "state_schema": state_schema or AgentState,
                "tools": list(tools or ()),
                "interrupts": interrupts,
                "__doc__": hook.__doc__,
                "__module__": hook.__module__,
                self._attribute(hook): marked,
            }
            made: Middleware = type(title, (AgentMiddleware,), members)()
            return made

        return decorate if function is None else decorate(function)

    def _attribute(self, hook: Function) -> str:
        twin = iscoroutinefunction(hook) and self.point in _TWINS
        return f"a{self.point}" if twin else self.point


def _method(hook: Function) -> Function:
    """The function as a method: the same signature with ``self`` in front."""
    if iscoroutinefunction(hook):

        @wraps(hook)
        async def asynchronous(_self: Any, *args: Any, **kwargs: Any) -> Any:
            return await hook(*args, **kwargs)

        return _with_self(asynchronous, hook)

    @wraps(hook)
    def synchronous(_self: Any, *args: Any, **kwargs: Any) -> Any:
        return hook(*args, **kwargs)

    return _with_self(synchronous, hook)


def _with_self(method: Function, hook: Function) -> Function:
    parameters = signature(hook)
    own = Parameter("self", Parameter.POSITIONAL_ONLY)
    rest = [
        p.replace(kind=Parameter.POSITIONAL_ONLY)
        if p.kind is Parameter.POSITIONAL_OR_KEYWORD and p.name != "config"
        else p
        for p in parameters.parameters.values()
    ]
    rest.sort(key=lambda p: p.kind)
    method.__signature__ = parameters.replace(parameters=[own, *rest])  # type: ignore[attr-defined]
    return method


before_agent = HookDecorator("before_agent", "Make a function run once, before the run begins.")
before_model = HookDecorator("before_model", "Make a function run before each model call.")
wrap_model_call = HookDecorator("wrap_model_call", "Put a function around each model call.")
after_model = HookDecorator("after_model", "Make a function run after each model call.")
before_tools = HookDecorator("before_tools", "Make a function run before calls are run.")
wrap_tool_call = HookDecorator("wrap_tool_call", "Put a function around each tool call.")
after_tools = HookDecorator("after_tools", "Make a function run after calls have been run.")
on_exit = HookDecorator("on_exit", "Make a function run when an exit condition is met.")
after_agent = HookDecorator("after_agent", "Make a function run once, when the run has ended.")
on_error = HookDecorator("on_error", "Make a function run when the run fails.")


@overload
def dynamic_prompt(function: Function, /) -> Middleware: ...


@overload
def dynamic_prompt(function: None = None, /) -> Decorator: ...


def dynamic_prompt(function: Function | None = None, /) -> Middleware | Decorator:
    """Make a function give the system prompt of each model call.

    Args:
        function: ``(request) -> str | SystemMessage``, ``def`` or ``async def``. What it returns
            takes the place of the agent's own system prompt.
    """

    def decorate(prompt: Function) -> Middleware:
        def with_prompt(request: ModelRequest[Any], text: Any) -> ModelRequest[Any]:
            message = text if isinstance(text, SystemMessage) else SystemMessage(text)
            return request.override(system_message=message)

        members: dict[str, Any] = {
            "__doc__": prompt.__doc__,
            "__module__": prompt.__module__,
            "tools": [],
        }
        if iscoroutinefunction(prompt):

            async def asynchronous(_self: Any, request: Any, handler: Any) -> Any:
                return await handler(with_prompt(request, await prompt(request)))

            members["awrap_model_call"] = asynchronous
        else:

            def synchronous(_self: Any, request: Any, handler: Any) -> Any:
                return handler(with_prompt(request, prompt(request)))

            async def awaiting(_self: Any, request: Any, handler: Any) -> Any:
                return await handler(with_prompt(request, prompt(request)))

            members |= {"wrap_model_call": synchronous, "awrap_model_call": awaiting}
        made: Middleware = type(prompt.__name__, (AgentMiddleware,), members)()
        return made

    return decorate if function is None else decorate(function)
