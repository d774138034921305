"""Why a run ended: the words that interlock itself writes to ``exit_reason``.

A run may also end with the name of an exit tool, or with a word that a hook gave to ``stop_run``.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

StandardExitReason = Literal[
    "text",
    "length",
    "content_filter",
    "structured_response",
    "structured_output_failed",
    "invalid_tool_calls",
    "max_agent_steps",
    "max_tokens_total",
    "jump",
    "error",
]
"""The words with a fixed meaning; the constants ``EXIT_…`` say what each one means."""

ExitReason = StandardExitReason | str
"""What ``exit_reason`` may hold: one of the fixed words, an exit tool's name, a hook's word."""

EXIT_REASONS: Final[tuple[StandardExitReason, ...]] = get_args(StandardExitReason)
"""All fixed words. No exit tool may be named like one of them."""

EXIT_TEXT: Final = "text"
"""A reply without tool calls. As an exit condition: such a reply ends the run."""
EXIT_LENGTH: Final = "length"
"""A reply without tool calls that its provider cut off at a limit of tokens."""
EXIT_CONTENT_FILTER: Final = "content_filter"
"""A reply without tool calls that its provider withheld or refused."""
EXIT_STRUCTURED_RESPONSE: Final = "structured_response"
"""The structured answer that was due came."""
EXIT_STRUCTURED_OUTPUT_FAILED: Final = "structured_output_failed"
"""No valid structured answer came, and the agent was told to end by a reason."""
EXIT_INVALID_TOOL_CALLS: Final = "invalid_tool_calls"
"""The model kept sending calls that nobody can read."""
EXIT_MAX_AGENT_STEPS: Final = "max_agent_steps"
"""The step limit, also where the model was asked for a final answer."""
EXIT_MAX_TOKENS_TOTAL: Final = "max_tokens_total"
"""The token limit of a run."""
EXIT_JUMP: Final = "jump"
"""A hook or tool jumped to the end and gave no reason."""
EXIT_ERROR: Final = "error"
"""The run failed and an ``on_error`` hook answered."""
