"""One prompt of an agent: a template that renders to exactly one message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from ...state.errors import InvalidInputError

if TYPE_CHECKING:
    from .language import PromptContext

Role = Literal["system", "user"]

_CLASSES: dict[str, type[BaseMessage]] = {"system": SystemMessage, "user": HumanMessage}


class PromptTemplate:
    """A prompt in Jinja2: one message block, or bare text that stands for its content.

    Args:
        source: The template. Text with a ``{% message role="user" %}`` block is that message,
            the space around its content taken off; text without one is the content as it is.
        role: What the message must be.

    Raises:
        ConfigurationError: The template cannot be read, has several blocks, or a block of
            another role.
    """

    def __init__(self, source: str, role: Role) -> None:
        self.source = source
        self.role: Role = role
        self.setting = f"{role}_prompt"
        # An agent without templates needs no template language.
        from .reading import read_template  # noqa: PLC0415

        reading = read_template(source, role)
        self.variables = reading.variables
        self.has_block = reading.has_block
        self.is_plain = reading.is_plain
        """There is nothing in it to compute."""
        self._reading = reading

    def render(self, values: Mapping[str, Any]) -> BaseMessage:
        """The message for some values; variables without a value write nothing.

        Raises:
            InvalidInputError: It cannot be rendered with them, or does not come to one message
                of its role.
        """
        known = {name: values[name] for name in self.variables if name in values}
        context = cast("PromptContext", self._reading.template.new_context(known))
        context.call_cost = self._reading.cost
        try:
            text = self._write(context)
        except Exception as error:  # boundary: a template works on whatever it is given
            said = getattr(error, "message", None) or str(error) or type(error).__name__
            said = said.rstrip(".")
            msg = f"{self.setting} cannot be rendered: {said}."
            raise InvalidInputError(msg) from error
        if not self.has_block:
            return _CLASSES[self.role](text)
        if text.strip():
            self._refuse(f"writes {text.strip()[:40]!r} outside of its message block")
        return self._message(context.made)

    def _write(self, context: PromptContext) -> str:
        parts: list[str] = []
        for part in self._reading.template.root_render_func(context):
            context.meter.charge(len(part))
            parts.append(part)
        return "".join(parts)

    def _message(self, made: list[dict[str, Any]]) -> BaseMessage:
        if len(made) != 1:
            self._refuse(f"came to {len(made)} messages; it must come to one")
        role, name, meta = made[0]["role"], made[0]["name"], made[0]["meta"]
        if role != self.role:
            self._refuse(f"came to a message of the role {role!r}; it must be {self.role!r}")
        if not (meta is None or isinstance(meta, Mapping)) or not (
            name is None or isinstance(name, str)
        ):
            self._refuse("has a name that is no text, or meta that is no mapping")
        extra = dict(cast("Mapping[str, Any]", meta or {}))
        return _CLASSES[self.role](made[0]["content"], name=name, additional_kwargs=extra)

    def _refuse(self, what: str) -> None:
        msg = f"{self.setting} {what}."
        raise InvalidInputError(msg)
