"""The input of an agent with prompts: template variables become messages before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, NotRequired, Required, cast

from langgraph.channels.ephemeral_value import EphemeralValue
from typing_extensions import TypedDict

from ...state.input import InputCheck
from ...state.merge import MergedSchema
from ...state.reducers import stamp_messages
from .prompts import Prompts
from .template import PromptTemplate


class PromptedInput(InputCheck):
    """Checks the input of a run and puts the rendered user prompt behind its messages."""

    def __init__(self, schema: MergedSchema, prompts: Prompts) -> None:
        with_variables = replace(schema, input=input_schema(schema, prompts))
        super().__init__(with_variables, messages_required=prompts.user is None)
        self._prompts = prompts

    def __call__(self, value: Any) -> dict[str, Any]:
        """The input as state updates, and the variables that the system prompt needs.

        Raises:
            InvalidInputError: As of :class:`InputCheck`; or a required variable is missing, or a
                prompt cannot be rendered.
        """
        prompts = self._prompts
        given = self.as_mapping(value)
        variables = {name: given.pop(name) for name in prompts.variables if name in given}
        checked = super().__call__(given)
        prompts.check_given(variables)
        if prompts.user is not None:
            prompt = stamp_messages([prompts.user.render(variables)])
            checked["messages"] = [*checked["messages"], *prompt]
        if isinstance(prompts.system, PromptTemplate):
            # Each run renders it for itself; here it is only made certain that it can be.
            prompts.system.render(variables)
            checked.update((n, variables[n]) for n in prompts.system.variables if n in variables)
        return checked


def input_schema(schema: MergedSchema, prompts: Prompts) -> type:
    """The input of an agent: the keys of its state, and the variables of its prompts."""
    if not prompts.variables:
        return schema.input
    keys: dict[str, Any] = dict(cast("Mapping[str, Any]", schema.input.__annotations__))
    # A channel that is empty in the next superstep: what is rendered is kept, not the variables.
    variable = Annotated[Any, EphemeralValue(object, guard=False)]
    for name in prompts.variables:
        keys[name] = Required[variable] if name in prompts.required else NotRequired[variable]
    if prompts.user is not None:
        keys["messages"] = NotRequired[_inside(keys["messages"])]
    # A name only known at run time is what the functional form is for.
    return cast("type", TypedDict("Input", keys))  # type: ignore[operator]


def _inside(annotation: Any) -> Any:
    """What ``Required[...]`` is about."""
    return annotation.__args__[0]
