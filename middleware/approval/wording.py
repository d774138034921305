"""What the model reads of a decision: refusals, and notes before a result.

Templates are filled by replacing the known placeholders only, so other braces in a template, as
in JSON, stay.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from langchain_core.messages import ToolCall

from .decision import Action

EDIT_NOTICE = (
    "Note: a person changed this call before it was run, and was entitled to. Your message shows "
    "the call as you made it, not as it was run. Do not make the original call again."
)
"""Put before the result of an edited call unless another text is set."""

REJECT_TEMPLATE = "Tool execution for '{tool_name}' was rejected by the user."
MODIFY_TEMPLATE = (
    "The parameters for tool '{tool_name}' were updated by the user to:\n{final_tool_params}"
)
USER_FEEDBACK_TEMPLATE = "With user feedback: {feedback}"


class Wording(Protocol):
    """How decisions are told to the model."""

    def rejected(self, call: ToolCall, reason: str | None) -> str:
        """The result of a call that was rejected."""
        ...

    def edited(self, action: Action, reason: str | None) -> str | None:
        """The note before the result of a call that was edited; None for none."""
        ...

    def approved(self, reason: str | None) -> str | None:
        """The note before the result of a call that was approved; None for none."""
        ...


@dataclass(frozen=True)
class NoticeWording:
    """The words of ``HumanInTheLoopMiddleware``.

    Source: LangChain 1.5.2; its texts for rejected calls are ones that programs look for.
    """

    edit_notice: str | None = EDIT_NOTICE

    def rejected(self, call: ToolCall, reason: str | None) -> str:
        """Who rejected it and why, or that it must not be tried again."""
        name = call["name"]
        if reason:
            return f"User rejected the tool call for `{name}` with reason: {reason}"
        return (
            f"User rejected the tool call for `{name}` with id {call['id']}. The tool was not "
            "executed. Do not retry this tool call unless the user explicitly requests it."
        )

    def edited(self, action: Action, reason: str | None) -> str | None:
        """The notice and what ran instead."""
        if not self.edit_notice:
            return _note(reason)
        shown = json.dumps(action["args"], default=str)
        notice = f"{self.edit_notice} Executed instead: {action['name']} with arguments {shown}."
        return "\n".join(t for t in (notice, _note(reason)) if t)

    def approved(self, reason: str | None) -> str | None:
        """What the reviewer wanted the model to know."""
        return _note(reason)


@dataclass(frozen=True)
class TemplateWording:
    """Words from three templates.

    Source: the templates of Haystack 3.4.1's confirmation strategies.
    """

    reject_template: str = REJECT_TEMPLATE
    """May name ``{tool_name}``."""
    modify_template: str = MODIFY_TEMPLATE
    """May name ``{tool_name}`` and ``{final_tool_params}``."""
    user_feedback_template: str = USER_FEEDBACK_TEMPLATE
    """Added when the person said something; may name ``{feedback}``."""

    def rejected(self, call: ToolCall, reason: str | None) -> str:
        """The first template."""
        return self._with(reason, fill(self.reject_template, tool_name=call["name"]))

    def edited(self, action: Action, reason: str | None) -> str | None:
        """The second template."""
        values = {"tool_name": action["name"], "final_tool_params": action["args"]}
        return self._with(reason, fill(self.modify_template, **values))

    def approved(self, reason: str | None) -> str | None:
        """The third template, if there is something to say."""
        return self._with(reason, "") if reason else None

    def to_dict(self) -> dict[str, str]:
        """The templates."""
        return asdict(self)

    def _with(self, reason: str | None, text: str) -> str:
        said = fill(self.user_feedback_template, feedback=reason) if reason else ""
        return f"{text} {said}".strip()


def fill(template: str, **values: Any) -> str:
    """``template`` with ``{name}`` replaced for the given names, and nothing else touched."""
    names = "|".join(map(re.escape, values))
    return re.sub(rf"\{{({names})\}}", lambda m: str(values[m[1]]), template)


def _note(reason: str | None) -> str | None:
    return f"Note of the reviewer: {reason}" if reason else None
