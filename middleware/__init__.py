"""What guards: the hook contract, composition and one file per guardrail.

Open ``base.py`` first: it defines ``AgentMiddleware``. ``exports.py`` lists what can be imported
from here; the guardrails are loaded when the first of them is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..state.lazy import lazy_names

if TYPE_CHECKING:
    from .exports import *  # noqa: F403 - the list is in that file
    from .exports import __all__ as __all__
else:
    # Writing a middleware of one's own loads none of the guardrails.
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "base": ["AgentMiddleware", "hook_config"],
            "decorators": [
                *("after_agent", "after_model", "after_tools", "before_agent", "before_model"),
                *("before_tools", "dynamic_prompt", "on_error", "on_exit"),
                *("wrap_model_call", "wrap_tool_call"),
            ],
            "request": ["ExtendedModelResponse", "ModelRequest", "ModelResponse"],
            "exports": None,
        },
    )
