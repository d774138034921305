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
from .pending import PendingApproval, pending_in
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
from .static_breakpoint import (
    AgentBreakpoint,
    Breakpoint,
    BreakpointMiddleware,
    ToolBreakpoint,
)
from .strategy import BlockingConfirmationStrategy, ConfirmationStrategy, HumanInTheLoopStrategy
from .ui import CallbackUI, ConfirmationUI, SimpleConsoleUI

__all__ = [
    "Action",
    "ActionRequest",
    "AgentBreakpoint",
    "AgentSnapshot",
    "AlwaysAskPolicy",
    "ApprovalMiddleware",
    "ApproveDecision",
    "AskOncePolicy",
    "BlockingConfirmationStrategy",
    "Breakpoint",
    "BreakpointConfirmationStrategy",
    "BreakpointMiddleware",
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
    "PendingApproval",
    "PredicatePolicy",
    "RejectDecision",
    "RespondDecision",
    "ReviewConfig",
    "ReviewContext",
    "RichConsoleUI",
    "SimpleConsoleUI",
    "ToolApprovalRequest",
    "ToolBreakpoint",
    "ToolExecutionDecision",
    "get_tool_calls_and_descriptions_from_snapshot",
    "pending_in",
]
