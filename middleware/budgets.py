"""A budget for the tokens, or the money, of a run or a thread."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, cast

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command

from ..state.errors import ConfigurationError
from ..state.limit_errors import BudgetExceededError
from ..state.schema import AgentState, PrivateStateAttr
from .base import AgentMiddleware, hook_config
from .flows import Flow, flow_layer
from .prices import Prices, check_budget, cost_of
from .request import ExtendedModelResponse, ModelRequest, ModelResponse
from .spending import Meter, Spending, Used, fold_spending, tokens_of, with_meter

Answer = ToolMessage | Command[Any]

TOKENS = "token_budget_exceeded"
COST = "cost_budget_exceeded"


class BudgetState(AgentState[Any]):
    """What a budget keeps: usage per model, of the run and of the thread."""

    spending: NotRequired[Annotated[dict[str, Any], PrivateStateAttr, fold_spending]]


class TokenBudgetMiddleware(AgentMiddleware[Any, Any, Any]):
    """Ends a run before the next model call once its budget of tokens or money is spent.

    Counted is what providers report: the agent's calls, calls of layers listed after this one
    (attempts of retries and fallbacks, a tool selector), and calls inside of tools, so also
    those of sub-agents. List it first. A call that is under way is not cut off, so the last one
    may go beyond the budget. An interrupt and its resume keep the count.

    It does not cover: models whose provider reports no usage; calls that hooks make outside of
    the model call (a summary before it); what a sub-agent spent before it paused or failed; a
    sub-agent that runs on within one tool call, which needs a budget of its own. Prices are the
    ones you give. Without a checkpointer a thread is a single run.
    """

    state_schema = BudgetState

    def __init__(
        self,
        max_tokens: int | None = None,
        *,
        max_cost: float | None = None,
        prices: Prices | None = None,
        scope: Literal["run", "thread"] = "run",
        exit_behavior: Literal["end", "error"] = "end",
        final_message: str | None = None,
    ) -> None:
        """Set the budget.

        Args:
            max_tokens: Tokens in and out together, at most; None for no limit.
            max_cost: Cost at most, in the unit of the prices; None for no limit.
            prices: Per model, the price of a million input and of a million output tokens, and
                if it differs, of a million cached input tokens. ``"*"`` is for all other models;
                a model without a price ends the run with an error.
            scope: Whether a run or a thread has this budget.
            exit_behavior: ``"end"`` ends the run with the exit reason ``token_budget_exceeded``
                or ``cost_budget_exceeded``; ``"error"`` raises ``BudgetExceededError``.
            final_message: Text of a last message that the run then gets.

        Raises:
            ConfigurationError: No budget is given, or a setting is wrong.
        """
        check_budget(max_tokens, max_cost, prices)
        for name, value, words in (
            ("scope", scope, ("run", "thread")),
            ("exit_behavior", exit_behavior, ("end", "error")),
        ):
            if value not in words:
                msg = f"{name} is {value!r}; give {' or '.join(map(repr, words))}."
                raise ConfigurationError(msg)
        self.max_tokens = max_tokens
        self.max_cost = max_cost
        self.prices = dict(prices or {})
        self.scope = scope
        self.exit_behavior = exit_behavior
        self.final_message = final_message

    @hook_config(quick=True)
    def before_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG002
        """Begin a new run on the thread."""
        return {"spending": {"begin": True}}

    @hook_config(can_jump_to=["end"], quick=True)
    def before_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """End the run if the budget is spent."""
        record: Spending = state.get("spending") or {}
        used: Used = record.get(self.scope, {})
        if self.max_tokens is not None and (tokens := tokens_of(used)) >= self.max_tokens:
            return self._stop(TOKENS, tokens, self.max_tokens)
        if self.max_cost is not None and (cost := cost_of(used, self.prices)) >= self.max_cost:
            return self._stop(COST, cost, self.max_cost)
        return None

    def _metered_reply(self, request: ModelRequest[Any]) -> Flow[ExtendedModelResponse[Any]]:
        """Measure a model call."""
        with Meter() as meter:
            response: ModelResponse[Any] = yield request
        # The step's number is the same for every budget that measures this reply.
        name = f"step {request.state.get('step_count', 0)}"
        report: Spending = {"for": name, "reply": True, "used": meter.used(*response.result)}
        return ExtendedModelResponse(response, Command(update={"spending": report}))

    def _metered_tool(self, request: ToolCallRequest) -> Flow[Answer]:
        """Measure the model calls inside of a tool."""
        with Meter() as meter:
            result: Answer = yield with_meter(request, meter)
        used = meter.used()
        if not used:
            return result
        report: Spending = {"for": request.tool_call["id"], "reply": False, "used": used}
        return _with_update(result, {"spending": report})

    wrap_model_call, awrap_model_call = flow_layer(_metered_reply)
    wrap_tool_call, awrap_tool_call = flow_layer(_metered_tool)

    def _stop(self, reason: str, spent: float, budget: float) -> dict[str, Any]:
        if self.exit_behavior == "error":
            what = "tokens" if reason == TOKENS else "money"
            msg = (
                f"The {self.scope} has spent {spent:g} of {budget:g} ({what}); raise the budget "
                "or begin a new one."
            )
            raise BudgetExceededError(msg, spent=spent, budget=budget)
        update: dict[str, Any] = {"jump_to": "end", "stop_run": reason}
        if self.final_message is not None:
            update["messages"] = [AIMessage(self.final_message)]
        return update


def _with_update(result: Any, update: dict[str, Any]) -> Answer:
    """A tool's result that also writes to the state."""
    if isinstance(result, ToolMessage):
        return Command(update={"messages": [result], **update})
    # Tools may return several commands and messages as a list; the executor takes them apart.
    parts = cast("list[Any]", result) if isinstance(result, list) else [result]
    return cast("Answer", [*parts, Command(update=update)])
