"""Reading a prompt: what Jinja2 makes of its source. Loaded only where a prompt is a template."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from jinja2 import Template, nodes
from jinja2.exceptions import TemplateError

from ...state.errors import ConfigurationError
from .language import PromptEnvironment, text_size, variables_of
from .message_block import blocks_in, role_of


@dataclass(frozen=True)
class Reading:
    """A template that can be rendered, and what is known of it before."""

    template: Template
    variables: frozenset[str]
    has_block: bool
    """It writes a message block, not bare text."""
    is_plain: bool
    """There is nothing in it to compute."""
    cost: int
    """Characters of all its text."""


def read_template(source: str, role: str) -> Reading:
    """Read the source of a prompt.

    Raises:
        ConfigurationError: It cannot be read, has several message blocks, or one of another role.
    """
    setting = f"{role}_prompt"
    environment = _environment()
    try:
        tree = environment.read(source)
        blocks = blocks_in(tree)
        _check_blocks(tree, blocks, role)
        return Reading(
            template=environment.make(tree),
            variables=variables_of(tree),
            has_block=bool(blocks),
            is_plain=not blocks and _is_text(tree),
            cost=text_size(tree),
        )
    except TemplateError as error:
        msg = f"{setting} is no valid template: {error.message}{_where(error)}."
        raise ConfigurationError(msg) from error


def _check_blocks(tree: nodes.Template, blocks: list[nodes.CallBlock], role: str) -> None:
    if not blocks:
        return
    if len(blocks) > 1:
        msg = f"{role}_prompt has {len(blocks)} message blocks; give one."
        raise ConfigurationError(msg)
    found = role_of(blocks[0])
    if found is not None and found != role:
        msg = f"{role}_prompt has a message block of the role {found!r}; give {role!r}."
        raise ConfigurationError(msg)
    for output in tree.body:
        if isinstance(output, nodes.Output) and any(
            isinstance(n, nodes.TemplateData) and n.data.strip() for n in output.nodes
        ):
            msg = f"{role}_prompt has text outside of its message block; put it inside."
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
