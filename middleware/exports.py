"""Everything that the package exports, by the module that defines it."""

from __future__ import annotations

from langgraph.runtime import Runtime
from langgraph.types import TracePolicy, omit_payload

from ..state import InputAgentState, OutputAgentState
from ..state.guardrail_errors import (
    DetectorError,
    FirewallError,
    ModerationError,
    PIIDetectionError,
)
from ..state.limit_errors import (
    BudgetExceededError,
    ModelCallLimitExceededError,
    ToolCallLimitExceededError,
)
from ..state.schema import AgentState, OmitFromInput, OmitFromOutput, PrivateStateAttr
from ..tools import ToolCallRequest
from ._execution import BaseExecutionPolicy, HostExecutionPolicy
from .approval import (
    Action,
    ActionRequest,
    AgentBreakpoint,
    AgentSnapshot,
    AlwaysAskPolicy,
    ApprovalMiddleware,
    ApproveDecision,
    AskOncePolicy,
    BlockingConfirmationStrategy,
    Breakpoint,
    BreakpointConfirmationStrategy,
    BreakpointMiddleware,
    CallbackUI,
    CannotPauseError,
    ConfidencePolicy,
    ConfirmationPolicy,
    ConfirmationStrategy,
    ConfirmationUI,
    ConfirmationUIResult,
    Decision,
    DecisionType,
    EditDecision,
    HITLBreakpointException,
    HITLRequest,
    HITLResponse,
    HumanInTheLoopStrategy,
    InvalidDecisionError,
    NeverAskPolicy,
    NotWaitingError,
    PendingApproval,
    PredicatePolicy,
    RejectDecision,
    RespondDecision,
    ReviewConfig,
    ReviewContext,
    RichConsoleUI,
    SimpleConsoleUI,
    ToolApprovalRequest,
    ToolBreakpoint,
    ToolExecutionDecision,
    get_tool_calls_and_descriptions_from_snapshot,
)
from .auto_mode import AutoModeMiddleware
from .base import AgentMiddleware, ContextT, ResponseT, StateT, hook_config
from .budgets import TokenBudgetMiddleware
from .compaction import (
    CompactionMiddleware,
    Compactor,
    SlidingWindowCompactor,
    SummarizationCompactor,
    ToolResultOffloadCompactor,
    ToolResultPruningCompactor,
)
from .context_editing import ClearToolUsesEdit, ContextEditingMiddleware
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
from .file_search import FilesystemFileSearchMiddleware
from .firewall import ToolFirewallMiddleware
from .function_hook import FunctionHook, hook
from .guardrails import Verdict, allow, ask, block, guardrail, revise
from .history_window import HistoryWindowMiddleware
from .human_in_the_loop import HumanInTheLoopMiddleware, InterruptMode, InterruptOnConfig
from .injection_patterns import injection_signs
from .injection_screen import InjectionScreenMiddleware
from .memory import Memory, MemoryMiddleware, MemoryScope, SearchCriteria, memory_namespace
from .model_call_limit import ModelCallLimitMiddleware
from .model_fallback import ModelFallbackMiddleware
from .model_refusal import ModelRefusalMiddleware
from .model_retry import ModelRetryMiddleware
from .model_router import ModelChoice, ModelRouterMiddleware
from .moderation import ModerationMiddleware
from .offload_policies import AlwaysOffload, NeverOffload, OffloadOverChars
from .pii import PIIMiddleware
from .provider_tool_search import ProviderToolSearchMiddleware
from .redaction import (
    PIIMatch,
    RedactionRule,
    ResolvedRedactionRule,
    apply_strategy,
    detect_api_key,
    detect_credit_card,
    detect_email,
    detect_iban,
    detect_ip,
    detect_mac_address,
    detect_phone,
    detect_url,
    presidio_detector,
)
from .request import ExtendedModelResponse, ModelCallResult, ModelRequest, ModelResponse
from .require_tool import RequireTool
from .sandboxes import CodexSandboxExecutionPolicy, DockerExecutionPolicy
from .shell_tool import ShellToolMiddleware
from .summarization import SummarizationMiddleware
from .summary_trigger import TriggerClause
from .todo import TodoListMiddleware
from .tool_call_limit import ToolCallLimitMiddleware
from .tool_emulator import LLMToolEmulator
from .tool_error import ToolErrorMiddleware
from .tool_result_offload import ToolResultOffloadMiddleware
from .tool_result_reader import result_reader
from .tool_result_stores import FileSystemToolResultStore, LangGraphToolResultStore, ToolResultStore
from .tool_retry import ToolRetryMiddleware
from .tool_selection import LLMToolSelectorMiddleware
from .tracing import configure_trace_policy

__all__ = [
    "Action",
    "ActionRequest",
    "AgentBreakpoint",
    "AgentMiddleware",
    "AgentSnapshot",
    "AgentState",
    "AlwaysAskPolicy",
    "AlwaysOffload",
    "ApprovalMiddleware",
    "ApproveDecision",
    "AskOncePolicy",
    "AutoModeMiddleware",
    "BaseExecutionPolicy",
    "BlockingConfirmationStrategy",
    "Breakpoint",
    "BreakpointConfirmationStrategy",
    "BreakpointMiddleware",
    "BudgetExceededError",
    "CallbackUI",
    "CannotPauseError",
    "ClearToolUsesEdit",
    "CodexSandboxExecutionPolicy",
    "CompactionMiddleware",
    "Compactor",
    "ConfidencePolicy",
    "ConfirmationPolicy",
    "ConfirmationStrategy",
    "ConfirmationUI",
    "ConfirmationUIResult",
    "ContextEditingMiddleware",
    "ContextT",
    "Decision",
    "DecisionType",
    "DetectorError",
    "DockerExecutionPolicy",
    "EditDecision",
    "ExtendedModelResponse",
    "FileSystemToolResultStore",
    "FilesystemFileSearchMiddleware",
    "FirewallError",
    "FunctionHook",
    "HITLBreakpointException",
    "HITLRequest",
    "HITLResponse",
    "HistoryWindowMiddleware",
    "HostExecutionPolicy",
    "HumanInTheLoopMiddleware",
    "HumanInTheLoopStrategy",
    "InjectionScreenMiddleware",
    "InputAgentState",
    "InterruptMode",
    "InterruptOnConfig",
    "InvalidDecisionError",
    "LLMToolEmulator",
    "LLMToolSelectorMiddleware",
    "LangGraphToolResultStore",
    "Memory",
    "MemoryMiddleware",
    "MemoryScope",
    "ModelCallLimitExceededError",
    "ModelCallLimitMiddleware",
    "ModelCallResult",
    "ModelChoice",
    "ModelFallbackMiddleware",
    "ModelRefusalMiddleware",
    "ModelRequest",
    "ModelResponse",
    "ModelRetryMiddleware",
    "ModelRouterMiddleware",
    "ModerationError",
    "ModerationMiddleware",
    "NeverAskPolicy",
    "NeverOffload",
    "NotWaitingError",
    "OffloadOverChars",
    "OmitFromInput",
    "OmitFromOutput",
    "OutputAgentState",
    "PIIDetectionError",
    "PIIMatch",
    "PIIMiddleware",
    "PendingApproval",
    "PredicatePolicy",
    "PrivateStateAttr",
    "ProviderToolSearchMiddleware",
    "RedactionRule",
    "RejectDecision",
    "RequireTool",
    "ResolvedRedactionRule",
    "RespondDecision",
    "ResponseT",
    "ReviewConfig",
    "ReviewContext",
    "RichConsoleUI",
    "Runtime",
    "SearchCriteria",
    "ShellToolMiddleware",
    "SimpleConsoleUI",
    "SlidingWindowCompactor",
    "StateT",
    "SummarizationCompactor",
    "SummarizationMiddleware",
    "TodoListMiddleware",
    "TokenBudgetMiddleware",
    "ToolApprovalRequest",
    "ToolBreakpoint",
    "ToolCallLimitExceededError",
    "ToolCallLimitMiddleware",
    "ToolCallRequest",
    "ToolErrorMiddleware",
    "ToolExecutionDecision",
    "ToolFirewallMiddleware",
    "ToolResultOffloadCompactor",
    "ToolResultOffloadMiddleware",
    "ToolResultPruningCompactor",
    "ToolResultStore",
    "ToolRetryMiddleware",
    "TracePolicy",
    "TriggerClause",
    "Verdict",
    "after_agent",
    "after_model",
    "after_tools",
    "allow",
    "apply_strategy",
    "ask",
    "before_agent",
    "before_model",
    "before_tools",
    "block",
    "configure_trace_policy",
    "detect_api_key",
    "detect_credit_card",
    "detect_email",
    "detect_iban",
    "detect_ip",
    "detect_mac_address",
    "detect_phone",
    "detect_url",
    "dynamic_prompt",
    "get_tool_calls_and_descriptions_from_snapshot",
    "guardrail",
    "hook",
    "hook_config",
    "injection_signs",
    "memory_namespace",
    "omit_payload",
    "on_error",
    "on_exit",
    "presidio_detector",
    "result_reader",
    "revise",
    "wrap_model_call",
    "wrap_tool_call",
]
