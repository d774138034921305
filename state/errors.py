"""Every error that interlock raises on its own account.

InterlockError
├── ConfigurationError (ValueError)      wrong settings, raised while something is built
│   ├── ToolDefinitionError              a tool whose name, schema or description cannot be used
│   ├── StateSchemaError                 state schemas that clash, reserve or cannot be read
│   ├── MissingExtraError (ImportError)  an optional dependency that is not installed
│   └── ExecutionPolicyError (RuntimeError)  a shell cannot be limited as asked
│           (lives in guardrail_errors.py)
├── InvalidInputError (ValueError)       input of a run that is refused before anything runs
│   ├── InvalidInputTypeError (TypeError)
│   │   (the next two are in approval_errors.py)
│   ├── InvalidDecisionError             a decision about a tool call that may not be made
│   ├── NotWaitingError                  an answer that nothing waits for
│   └── MemoryScopeError                 it is not clear whose memories a run means
│           (lives in memory_errors.py)
├── InvalidUpdateError (ValueError and langgraph's)  a hook's or tool's update cannot be applied
│   ├── InvalidJumpError                 a hook asked for a jump that leads nowhere
│   └── InvalidResponseError (TypeError)  a layer returned something that is no response
├── StorageError                         a value cannot be stored, or stored bytes cannot be read
│   └── UnstorableValueError (TypeError)
├── RunError (RuntimeError)              a run cannot go on
│   ├── StepLimitError                   the run needed more steps than it may take
│   ├── RestoredError                    a stored failure, for hooks that a resumed run tells of it
│   │       (lives in failures.py)
│   ├── LimitExceededError               a limit that a guardrail sets is used up
│   │   │   (these are in limit_errors.py)
│   │   ├── ModelCallLimitExceededError
│   │   ├── ToolCallLimitExceededError
│   │   └── BudgetExceededError
│   │   (the next two are in approval_errors.py)
│   ├── CannotPauseError                 an approval is due and nothing would store the pause
│   ├── HITLBreakpointException          the run stopped at a breakpoint and left a snapshot
│   ├── ToolExecutionError               a tool failed and the agent raises tool failures
│   ├── WouldBlockError                  asynchronous work was reached in a synchronous run
│   └── GuardrailError                   a guardrail ends the run
│       │   (the subclasses live in guardrail_errors.py)
│       ├── PIIDetectionError            sensitive data where it must not be
│       ├── DetectorError                a detector failed, so the text may not pass
│       ├── ModerationError              content was flagged, or could not be checked
│       └── FirewallError                a tool call is outside what is allowed
├── StructuredOutputError (ValueError)   the model gave no valid structured answer
│   │   (the rest of them are in structured_errors.py)
│   ├── StructuredOutputValidationError
│   ├── MultipleStructuredOutputsError
│   ├── MissingStructuredOutputError     prose came where a structure is due
│   ├── SchemaMismatchError              a JSON value does not fit its schema
│   ├── UnreadableAnswerError            a reply holds no JSON value that can be told for certain
│   │   └── RefusedAnswerError           the model or a filter declined to answer
│   └── ExtractionError                  every allowed attempt failed
│       └── InvalidExtractionError       the same, the last time by its schema
└── ChatModelError (RuntimeError)        a chat model shipped with interlock failed
    │   (the subclasses live in model_errors.py)
    ├── ChatModelTimeoutError            no answer in time: connect, read, stall or total
    ├── ChatModelConnectionError         the provider cannot be reached, or hung up
    │   └── ChatModelCertificateError    its certificate was refused
    ├── ChatModelRateLimitError          too many requests, or no quota left
    ├── ChatModelContextOverflowError    the input is longer than the model's context
    ├── ChatModelAuthenticationError     the key is missing, wrong or expired
    ├── ChatModelPermissionError         the key may not do this
    ├── ChatModelNotFoundError           no such model or path
    ├── ChatModelRequestError            the provider, or this client, refused the request
    ├── ChatModelServerError             the provider failed
    ├── ChatModelMalformedError          the answer is not what the protocol promises
    │   └── ChatModelTooLargeError       the answer is longer than the limit
    ├── ChatModelIncompleteError         the stream ended before the answer did
    ├── ChatModelRefusalError            the model refused where an answer was needed
    └── ScriptError                      a scripted model has no step for this call

Interrupts, jumps and parent commands are signals, not errors: they are langgraph's own.
Messages name the offending thing with ``!r`` and end with what to do; the data is on the
error's attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.errors import InvalidUpdateError as GraphInvalidUpdateError


class InterlockError(Exception):
    """Base of every error interlock raises on its own account."""


class ConfigurationError(InterlockError, ValueError):
    """A setting is wrong; raised while an agent, tool or middleware is built."""


class ToolDefinitionError(ConfigurationError):
    """A tool cannot be offered to a model as it is defined."""

    def __init__(self, message: str, *, tool_name: str | None = None) -> None:
        super().__init__(message)
        self.tool_name = tool_name
        """Name of the refused tool, where it has one."""


class StateSchemaError(ConfigurationError, TypeError):
    """State schemas contradict each other, use a reserved key or cannot be read."""

    def __init__(self, message: str, *, key: str | None = None, owners: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.key = key
        """The state key in question."""
        self.owners = tuple(owners)
        """Who declares the key: class names of the schemas, in registration order."""


class MissingExtraError(ConfigurationError, ImportError):
    """A feature needs an optional dependency that is not installed here."""

    def __init__(self, message: str, *, extra: str) -> None:
        super().__init__(message)
        self.extra = extra
        """Name of the extra that brings the dependency: ``pip install interlock[extra]``."""


class InvalidInputError(InterlockError, ValueError):
    """The input of a run is refused; nothing has run and nothing was stored."""

    def __init__(self, message: str, *, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key
        """The input key in question."""


class InvalidInputTypeError(InvalidInputError, TypeError):
    """The input of a run, or one of its values, has a wrong type."""


class InvalidUpdateError(InterlockError, GraphInvalidUpdateError, ValueError):
    """A hook or tool returned something that is no update of the declared state.

    It is one of langgraph's errors of this name, too.
    """

    def __init__(self, message: str, *, owner: str, key: str | None = None) -> None:
        super().__init__(message)
        self.owner = owner
        """The hook or tool, as ``Middleware.hook`` or the tool's name."""
        self.key = key
        """The state key in question."""


class InvalidJumpError(InvalidUpdateError):
    """A hook asked for a jump that does not exist or that it did not declare."""

    def __init__(self, message: str, *, owner: str, target: object, allowed: Sequence[str]) -> None:
        super().__init__(message, owner=owner, key="jump_to")
        self.target = target
        """What the hook asked for."""
        self.allowed = tuple(allowed)
        """The jumps it may take."""


class InvalidResponseError(InvalidUpdateError, TypeError):
    """A ``wrap_model_call`` layer returned something that is no response."""


class StorageError(InterlockError):
    """A checkpoint cannot be written or read."""


class UnstorableValueError(StorageError, TypeError):
    """A state value belongs to a type that the agent's storage may not rebuild."""

    def __init__(self, message: str, *, key: str, type_name: str) -> None:
        super().__init__(message)
        self.key = key
        """The state key."""
        self.type_name = type_name
        """Fully qualified name of the refused type."""


class RunError(InterlockError, RuntimeError):
    """A run cannot go on."""


class StepLimitError(RunError):
    """The run needed more steps than it may take."""


class ToolExecutionError(RunError):
    """A tool failed, or answered with something that cannot be used."""

    def __init__(self, message: str, *, tool_name: str, tool_call_id: str | None = None) -> None:
        super().__init__(message)
        self.tool_name = tool_name
        """Name of the tool."""
        self.tool_call_id = tool_call_id
        """Id of the call that failed."""


class WouldBlockError(RunError):
    """Asynchronous work was reached in a synchronous run, where no event loop drives it."""


class GuardrailError(RunError):
    """A guardrail ends the run.

    Its subclasses are in ``guardrail_errors.py``.
    """


class StructuredOutputError(InterlockError, ValueError):
    """The model gave no valid structured answer."""

    ai_message: Any = None
    """The model's reply, as an ``AIMessage``, where there is one."""


class StructuredOutputValidationError(StructuredOutputError):
    """A structured answer does not fit its schema."""

    def __init__(self, tool_name: str, source: Exception, ai_message: Any) -> None:
        super().__init__(
            f"The structured answer for {tool_name!r} does not fit its schema: {source}"
        )
        self.tool_name = tool_name
        """Name of the schema, which is also the name of its output tool."""
        self.source = source
        """What the validator raised."""
        self.ai_message = ai_message


class MultipleStructuredOutputsError(StructuredOutputError):
    """The model gave several structured answers in one reply where one is due."""

    def __init__(self, tool_names: Sequence[str], ai_message: Any) -> None:
        super().__init__(
            f"Several structured answers came in one reply ({', '.join(tool_names)}); "
            "exactly one is due."
        )
        self.tool_names = list(tool_names)
        """Names of the output tools that were called, in call order."""
        self.ai_message = ai_message


class ExtractionError(StructuredOutputError):
    """No attempt gave a structured answer that fits the schema."""

    def __init__(
        self, message: str, *, attempts: int, last_output: str, errors: Sequence[str]
    ) -> None:
        super().__init__(message)
        self.attempts = attempts
        """How many times the model was asked."""
        self.last_output = last_output
        """What the model said last, as text."""
        self.errors = tuple(errors)
        """Why each attempt was refused, oldest first."""


class ChatModelError(InterlockError, RuntimeError):
    """A chat model that interlock ships failed.

    Its subclasses are in ``model_errors.py``.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        provider_message: str | None = None,
        error_code: str | None = None,
        request_id: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status of the answer, where there was one."""
        self.provider_message = provider_message
        """The provider's own words, shortened, without the key."""
        self.error_code = error_code
        """The provider's code for the error, such as ``context_length_exceeded``."""
        self.request_id = request_id
        """The provider's id of the request: what its support asks for."""
        self.retry_after_s = retry_after_s
        """Seconds the provider asked to wait before the next request, where it said so."""
