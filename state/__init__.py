"""What travels through an agent: its state, the run's ledger and the error tree.

Open ``schema.py`` first: it defines ``AgentState``. ``merge.py`` makes one state of the schemas
of middleware and agent, ``state.py`` is the state as an object, ``working.py`` applies updates
within a node, ``history.py`` keeps the conversation valid, ``storage.py`` keeps stored threads
harmless, ``errors.py`` is the error tree.
"""

from __future__ import annotations

from .channels import MessagesChannel, MessageStorage
from .errors import (
    ConfigurationError,
    ExtractionError,
    InterlockError,
    InvalidInputError,
    InvalidInputTypeError,
    InvalidJumpError,
    InvalidUpdateError,
    MissingExtraError,
    MultipleStructuredOutputsError,
    RunError,
    StateSchemaError,
    StepLimitError,
    StorageError,
    StructuredOutputError,
    StructuredOutputValidationError,
    ToolDefinitionError,
    ToolExecutionError,
    UnstorableValueError,
    WouldBlockError,
)
from .exit_reasons import (
    EXIT_CONTENT_FILTER,
    EXIT_ERROR,
    EXIT_INVALID_TOOL_CALLS,
    EXIT_JUMP,
    EXIT_LENGTH,
    EXIT_MAX_AGENT_STEPS,
    EXIT_MAX_TOKENS_TOTAL,
    EXIT_REASONS,
    EXIT_STRUCTURED_OUTPUT_FAILED,
    EXIT_STRUCTURED_RESPONSE,
    EXIT_TEXT,
    ExitReason,
    StandardExitReason,
)
from .history import pending_calls, repair_history
from .ledger import LEDGER_OUTPUTS, RESERVED_KEYS, RunLedger
from .live import LiveState
from .merge import MergedSchema, merge_schemas
from .reducers import merge_lists, replace_values
from .schema import (
    JUMP_TARGETS,
    AgentState,
    InputAgentState,
    JumpTo,
    OmitFromInput,
    OmitFromOutput,
    OmitFromSchema,
    OutputAgentState,
    PrivateStateAttr,
    ResponseT,
)
from .state import State

__all__ = [
    "EXIT_CONTENT_FILTER",
    "EXIT_ERROR",
    "EXIT_INVALID_TOOL_CALLS",
    "EXIT_JUMP",
    "EXIT_LENGTH",
    "EXIT_MAX_AGENT_STEPS",
    "EXIT_MAX_TOKENS_TOTAL",
    "EXIT_REASONS",
    "EXIT_STRUCTURED_OUTPUT_FAILED",
    "EXIT_STRUCTURED_RESPONSE",
    "EXIT_TEXT",
    "JUMP_TARGETS",
    "LEDGER_OUTPUTS",
    "RESERVED_KEYS",
    "AgentState",
    "ConfigurationError",
    "ExitReason",
    "ExtractionError",
    "InputAgentState",
    "InterlockError",
    "InvalidInputError",
    "InvalidInputTypeError",
    "InvalidJumpError",
    "InvalidUpdateError",
    "JumpTo",
    "LiveState",
    "MergedSchema",
    "MessageStorage",
    "MessagesChannel",
    "MissingExtraError",
    "MultipleStructuredOutputsError",
    "OmitFromInput",
    "OmitFromOutput",
    "OmitFromSchema",
    "OutputAgentState",
    "PrivateStateAttr",
    "ResponseT",
    "RunError",
    "RunLedger",
    "StandardExitReason",
    "State",
    "StateSchemaError",
    "StepLimitError",
    "StorageError",
    "StructuredOutputError",
    "StructuredOutputValidationError",
    "ToolDefinitionError",
    "ToolExecutionError",
    "UnstorableValueError",
    "WouldBlockError",
    "merge_lists",
    "merge_schemas",
    "pending_calls",
    "repair_history",
    "replace_values",
]
