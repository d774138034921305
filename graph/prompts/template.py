"""One prompt of an agent: a template that renders to exactly one message."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, cast

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from ...state.errors import ConfigurationError, InvalidInputError
from .language import PromptContext, PromptEnvironment, text_size, variables_of
from .message_block import blocks_in, role_of

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
        environment = _environment()
        try:
            tree = environment.read(source)
            blocks = blocks_in(tree)
            self.has_block = bool(blocks)
            self._check_blocks(tree, blocks)
            self.variables = variables_of(tree)
            self.is_plain = not self.has_block and _is_text(tree)
            """There is nothing in it to compute."""
            self._cost = text_size(tree)
            self._template = environment.make(tree)
        except TemplateError as error:
            msg = f"{self.setting} is no valid template: {error.message}{_where(error)}."
            raise ConfigurationError(msg) from error

    def render(self, values: Mapping[str, Any]) -> BaseMessage:
        """The message for some values; variables without a value write nothing.

        Raises:
            InvalidInputError: It cannot be rendered with them, or does not come to one message
                of its role.
        """
        known = {name: values[name] for name in self.variables if name in values}
        context = cast("PromptContext", self._template.new_context(known))
        context.call_cost = self._cost
        try:
            text = self._write(context)
        except Exception as error:  # boundary: a template works on whatever it is given
            said = error.message if isinstance(error, TemplateError) else str(error)
            said = (said or type(error).__name__).rstrip(".")
            msg = f"{self.setting} cannot be rendered: {said}."
            raise InvalidInputError(msg) from error
        if not self.has_block:
            return _CLASSES[self.role](text)
        if text.strip():
            self._refuse(f"writes {text.strip()[:40]!r} outside of its message block")
        return self._message(context.made)

    def _write(self, context: PromptContext) -> str:
        parts: list[str] = []
        for part in self._template.root_render_func(context):
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

    def _check_blocks(self, tree: nodes.Template, blocks: list[nodes.CallBlock]) -> None:
        if not blocks:
            return
        if len(blocks) > 1:
            msg = f"{self.setting} has {len(blocks)} message blocks; give one."
            raise ConfigurationError(msg)
        role = role_of(blocks[0])
        if role is not None and role != self.role:
            msg = f"{self.setting} has a message block of the role {role!r}; give {self.role!r}."
            raise ConfigurationError(msg)
        for output in tree.body:
            if isinstance(output, nodes.Output) and any(
                isinstance(n, nodes.TemplateData) and n.data.strip() for n in output.nodes
            ):
                msg = f"{self.setting} has text outside of its message block; put it inside."
                raise ConfigurationError(msg)


@cache
def _environment() -> PromptEnvironment:
    return PromptEnvironment()


def _is_text(tree: nodes.Template) -> bool:
    return all(
        isinstance(part, nodes.Output)
        and all(isinstance(n, nodes.TemplateData) for n in part.nodes)
        for part in tree.body
    )


def _where(error: TemplateError) -> str:
    line = getattr(error, "lineno", None)
    return f" (line {line})" if line else ""
