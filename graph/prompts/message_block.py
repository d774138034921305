"""``{% message role="user" %}...{% endmessage %}``: one message of a template.

Source: the message blocks of Haystack's ``ChatPromptBuilder``, 2.16 (2025).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

_OPTIONS = ("role", "name", "meta")


class MessageBlock(Extension):
    """Collects what a block renders as a message of the rendering."""

    tags = {"message"}  # noqa: RUF012 - the name and kind that Jinja asks for

    def parse(self, parser: Parser) -> nodes.Node:
        """The block as a call of :meth:`emit` with the rendered body."""
        line = next(parser.stream).lineno
        options: dict[str, nodes.Expr] = {}
        while parser.stream.current.type != "block_end":
            name = parser.stream.expect("name").value
            if name not in _OPTIONS or name in options:
                parser.fail(f"a message block takes {', '.join(_OPTIONS)}, not {name!r}", line)
            parser.stream.expect("assign")
            options[name] = parser.parse_expression()
            parser.stream.skip_if("comma")
        if "role" not in options:
            parser.fail('a message block needs a role: {% message role="user" %}', line)
        body = parser.parse_statements(("name:endmessage",), drop_needle=True)
        given = [options.get(name, nodes.Const(None)) for name in _OPTIONS]
        call = self.call_method("emit", [nodes.ContextReference(), *given])
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def emit(self, context: Any, role: Any, name: Any, meta: Any, caller: Callable[[], str]) -> str:
        """Keep the message; the block itself writes nothing."""
        made = {"role": role, "name": name, "meta": meta, "content": str(caller()).strip()}
        context.made.append(made)
        return ""


def blocks_in(tree: nodes.Template) -> list[nodes.CallBlock]:
    """The message blocks of a template."""
    return [
        block
        for block in tree.find_all(nodes.CallBlock)
        if isinstance(block.call.node, nodes.ExtensionAttribute) and block.call.node.name == "emit"
    ]


def role_of(block: nodes.CallBlock) -> Any:
    """The role that a block names, or None if it is only known when it is rendered."""
    role = block.call.args[1]
    return role.value if isinstance(role, nodes.Const) else None
