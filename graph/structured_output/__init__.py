"""Structured answers: what to offer a model, how to read what it says, when to ask again.

Everything here is a pure function over messages and knows nothing of graphs. An agent makes one
:class:`OutputPlan` when it is built. For each model request the plan resolves the strategy in
force, an :class:`ActiveOutput`: its ``tools``, ``model_kwargs`` and ``tool_choice`` are bound to
the model, and its ``read`` turns the reply into one of four outcomes:

* :class:`NotDue`: the reply asks for ordinary tools; the run goes on.
* :class:`Answered`: the value, and the messages to put behind the reply. Ordinary calls beside
  the answer still run; then the run is done.
* :class:`AskAgain`: the messages that tell the model what is wrong, and the ``failures`` to keep
  for the next reading in the same run. Ordinary calls beside a wrong answer run as well.
* :class:`Failed`: the error to raise, or the reason to end the run with.

The rules, in one place:

* Exactly one answer is due. Of several output calls in one reply none is taken.
* A reply that was cut off is never read, one that was declined is not asked for again.
* All attempts of a run share one bound, whatever was wrong with them: a call that does not fit,
  text that is no JSON, several answers, prose.
* Prose is answered by a ``HumanMessage`` that is marked as not the user's
  (``additional_kwargs["lc_source"] == NUDGE_SOURCE``); a wrong call by its tool result.

>>> from langchain_core.messages import AIMessage
>>> from pydantic import BaseModel
>>> class City(BaseModel):
...     name: str
...     population: int
>>> plan = OutputPlan.from_response_format(City)
>>> active = plan.resolve(plan.strategy, model="some-model")
>>> [tool.name for tool in active.tools], active.tool_choice()
(['City'], 'any')
>>> call = {"name": "City", "args": {"name": "Oslo", "population": "many"}, "id": "1"}
>>> outcome = active.read(AIMessage("", tool_calls=[call]))
>>> print(outcome.messages[0].content)
The answer cannot be used.
It does not fit the schema City:
- population: Input should be a valid integer, unable to parse string as an integer (got "many")
Call City again, corrected.
>>> call["args"]["population"] = 717_710
>>> active.read(AIMessage("", tool_calls=[call]), outcome.failures).value
City(name='Oslo', population=717710)
"""

from __future__ import annotations

from ...state.errors import (
    ExtractionError,
    MultipleStructuredOutputsError,
    StructuredOutputError,
    StructuredOutputValidationError,
)
from ...state.structured_errors import (
    InvalidExtractionError,
    MissingStructuredOutputError,
    RefusedAnswerError,
    SchemaMismatchError,
    UnreadableAnswerError,
)
from .active import ActiveOutput
from .bindings import OutputToolBinding, ProviderStrategyBinding
from .growing import GrowingAnswer
from .outcome import NUDGE_SOURCE, Answered, AskAgain, Failed, NotDue, Outcome
from .partial import partial_value
from .plan import OutputPlan
from .retry import FAILED_REASON
from .schema import SchemaKind, SchemaSpec
from .strategies import (
    AutoStrategy,
    ErrorHandling,
    OnFailure,
    ProviderStrategy,
    ResponseFormat,
    ToolStrategy,
)
from .support import supports_provider_strategy

# The name by which code written for LangChain knows it.
_SchemaSpec = SchemaSpec

__all__ = [
    "FAILED_REASON",
    "NUDGE_SOURCE",
    "ActiveOutput",
    "Answered",
    "AskAgain",
    "AutoStrategy",
    "ErrorHandling",
    "ExtractionError",
    "Failed",
    "GrowingAnswer",
    "InvalidExtractionError",
    "MissingStructuredOutputError",
    "MultipleStructuredOutputsError",
    "NotDue",
    "OnFailure",
    "Outcome",
    "OutputPlan",
    "OutputToolBinding",
    "ProviderStrategy",
    "ProviderStrategyBinding",
    "RefusedAnswerError",
    "ResponseFormat",
    "SchemaKind",
    "SchemaMismatchError",
    "SchemaSpec",
    "StructuredOutputError",
    "StructuredOutputValidationError",
    "ToolStrategy",
    "UnreadableAnswerError",
    "partial_value",
    "supports_provider_strategy",
]
