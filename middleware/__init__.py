"""What guards: the hook contract, composition and one file per guardrail.

Open ``base.py`` first: it defines ``AgentMiddleware``.
"""

from __future__ import annotations

from langgraph.runtime import Runtime

from ..state.schema import AgentState, OmitFromInput, OmitFromOutput, PrivateStateAttr
from ..tools import ToolCallRequest
from .base import AgentMiddleware, hook_config
from .decorators import (
    after_agent,
    after_model,
    after_tools,
    before_agent,
    before_model,
    before_tools,
    dynamic_prompt,
    on_error,
    on_exit,
    wrap_model_call,
    wrap_tool_call,
)
from .model_retry import ModelRetryMiddleware
from .request import ExtendedModelResponse, ModelCallResult, ModelRequest, ModelResponse
from .tool_retry import ToolRetryMiddleware

__all__ = [
    "AgentMiddleware",
    "AgentState",
    "ExtendedModelResponse",
    "ModelCallResult",
    "ModelRequest",
    "ModelResponse",
    "ModelRetryMiddleware",
    "OmitFromInput",
    "OmitFromOutput",
    "PrivateStateAttr",
    "Runtime",
    "ToolCallRequest",
    "ToolRetryMiddleware",
    "after_agent",
    "after_model",
    "after_tools",
    "before_agent",
    "before_model",
    "before_tools",
    "dynamic_prompt",
    "hook_config",
    "on_error",
    "on_exit",
    "wrap_model_call",
    "wrap_tool_call",
]
