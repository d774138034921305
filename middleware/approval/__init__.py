"""People in the loop: who is asked about which tool call, how, and what may then run.

Open ``middleware.py`` first: the three points that a call passes. ``policy.py`` says when somebody
is asked, ``strategy.py`` and ``ui.py`` how, ``decision.py`` what may be decided, ``reviewer.py``
what follows. ``breakpoint.py`` and ``snapshot.py`` are for programs without a checkpointer.
"""

from __future__ import annotations

from ...state.approval_errors import (
    CannotPauseError,
    HITLBreakpointException,
    InvalidDecisionError,
    NotWaitingError,
)
from .breakpoint import BreakpointConfirmationStrategy
from .confirmation import ConfirmationUIResult, ToolExecutionDecision
from .confirmation_middleware import ApprovalMiddleware
from .decision import (
    Action,
    ApproveDecision,
    Decision,
    DecisionType,
    EditDecision,
    RejectDecision,
    RespondDecision,
)
from .policy import (
    AlwaysAskPolicy,
    AskOncePolicy,
    ConfidencePolicy,
    ConfirmationPolicy,
    NeverAskPolicy,
    PredicatePolicy,
    ReviewContext,
)
from .request import (
    ActionRequest,
    HITLRequest,
    HITLResponse,
    ReviewConfig,
    ToolApprovalRequest,
)
from .rich_ui import RichConsoleUI
from .snapshot import AgentSnapshot, get_tool_calls_and_descriptions_from_snapshot
from .strategy import BlockingConfirmationStrategy, ConfirmationStrategy, HumanInTheLoopStrategy
from .ui import CallbackUI, ConfirmationUI, SimpleConsoleUI

__all__ = [
    "Action",
    "ActionRequest",
    "AgentSnapshot",
    "AlwaysAskPolicy",
    "ApprovalMiddleware",
    "ApproveDecision",
    "AskOncePolicy",
    "BlockingConfirmationStrategy",
    "BreakpointConfirmationStrategy",
    "CallbackUI",
    "CannotPauseError",
    "ConfidencePolicy",
    "ConfirmationPolicy",
    "ConfirmationStrategy",
    "ConfirmationUI",
    "ConfirmationUIResult",
    "Decision",
    "DecisionType",
    "EditDecision",
    "HITLBreakpointException",
    "HITLRequest",
    "HITLResponse",
    "HumanInTheLoopStrategy",
    "InvalidDecisionError",
    "NeverAskPolicy",
    "NotWaitingError",
    "PredicatePolicy",
    "RejectDecision",
    "RespondDecision",
    "ReviewConfig",
    "ReviewContext",
    "RichConsoleUI",
    "SimpleConsoleUI",
    "ToolApprovalRequest",
    "ToolExecutionDecision",
    "get_tool_calls_and_descriptions_from_snapshot",
]
