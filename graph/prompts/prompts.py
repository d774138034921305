"""The prompts of an agent: what they ask for, and the messages they come to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.messages import BaseMessage, SystemMessage

from ...state.errors import ConfigurationError, InvalidInputError
from ...state.suggestion import did_you_mean
from .template import PromptTemplate

RequiredVariables = Literal["*"] | Sequence[str] | None
"""Variables that a run must be given: all, some, or none."""


@dataclass(frozen=True)
class Prompts:
    """The system prompt and the user prompt, checked when the agent is built."""

    system: SystemMessage | PromptTemplate | None = None
    """The message itself, or a template that each run renders."""
    user: PromptTemplate | None = None
    """Rendered and put behind the messages of each run."""
    variables: tuple[str, ...] = ()
    """Input keys that the templates read, in alphabetical order."""
    required: frozenset[str] = field(default_factory=frozenset[str])

    @classmethod
    def of(
        cls,
        system: str | SystemMessage | None,
        user: str | None,
        required: RequiredVariables,
        *,
        templated: bool,
    ) -> Prompts:
        """Read the prompts of an agent.

        Args:
            system: The system prompt; a message is taken as it is.
            user: The user prompt.
            required: Variables that must be given.
            templated: The system prompt is a template if it is a string.

        Raises:
            ConfigurationError: A template is wrong, or ``required`` names no variable.
        """
        _check_kind("system_prompt", system, (str, SystemMessage))
        _check_kind("user_prompt", user, (str,))
        user_template = None if user is None else PromptTemplate(user, "user")
        message: SystemMessage | PromptTemplate | None
        if isinstance(system, str):
            message = _system(system) if templated else SystemMessage(system)
        else:
            message = system
        templates = [t for t in (message, user_template) if isinstance(t, PromptTemplate)]
        variables = sorted({name for t in templates for name in t.variables})
        return cls(message, user_template, tuple(variables), _required(required, variables))

    @property
    def fixed_system(self) -> SystemMessage | None:
        """The system message that all runs share, if it does not depend on the run."""
        return None if isinstance(self.system, PromptTemplate) else self.system

    def check_names(self, state_keys: Collection[str], parameters: Collection[str]) -> None:
        """Refuse variables that would stand for two things.

        Args:
            state_keys: Keys of the state, reserved ones included.
            parameters: Names that a run takes for other things.

        Raises:
            ConfigurationError: A variable has such a name.
        """
        for name in self.variables:
            for known, what in ((state_keys, "a state key"), (parameters, "a parameter of a run")):
                if name in known:
                    msg = f"Prompt variable {name!r} has the name of {what}; rename the variable."
                    raise ConfigurationError(msg)

    def check_given(self, values: Mapping[str, Any]) -> None:
        """Refuse an input that lacks variables.

        Raises:
            InvalidInputError: It names those that are missing and those that were given.
        """
        missing = sorted(self.required - values.keys())
        if missing:
            given = sorted(values.keys() & set(self.variables))
            msg = (
                f"The prompts need {', '.join(missing)}; given were {', '.join(given) or 'none'}. "
                "Give them as input keys, or take them out of required_variables."
            )
            raise InvalidInputError(msg, key=missing[0])

    def system_for(self, values: Mapping[str, Any]) -> BaseMessage | None:
        """The system message of a run.

        Raises:
            InvalidInputError: It cannot be rendered with these values.
        """
        if isinstance(self.system, PromptTemplate):
            return self.system.render(values)
        return self.system


def _check_kind(setting: str, value: Any, kinds: tuple[type, ...]) -> None:
    if value is not None and not isinstance(value, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        msg = f"{setting} is {type(value).__name__!r}; give {wanted}, or None."
        raise ConfigurationError(msg)


def _system(text: str) -> SystemMessage | PromptTemplate:
    template = PromptTemplate(text, "system")
    return SystemMessage(text) if template.is_plain else template


def _required(required: RequiredVariables, variables: Sequence[str]) -> frozenset[str]:
    if required is None:
        return frozenset()
    if isinstance(required, str):
        if required != "*":
            msg = f"required_variables is {required!r}; give '*', None or a list of names."
            raise ConfigurationError(msg)
        return frozenset(variables)
    for name in required:
        if name not in variables:
            known = ", ".join(variables) or "none"
            msg = (
                f"required_variables names {name!r}, which no prompt reads; the variables are "
                f"{known}.{did_you_mean(name, variables)}"
            )
            raise ConfigurationError(msg)
    return frozenset(required)
