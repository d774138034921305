"""``ApprovalMiddleware``: reviews by confirmation strategies, one for each tool.

Source: the confirmation hook of Haystack 3.4.1: keys, strategies, texts and the plain form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ...state.errors import ConfigurationError
from .middleware import ReviewMiddleware
from .policy import AlwaysAskPolicy
from .reviewer import Reviewer
from .rule import Rule, RuleBook, ToolKey
from .serialization import from_plain, plain_key, to_plain, tool_key
from .strategy import HumanInTheLoopStrategy
from .wording import TemplateWording


class ApprovalMiddleware(ReviewMiddleware):
    """Asks the strategy of a tool before each of its calls.

    Args:
        confirmation_strategies: A strategy by tool name, by a tuple of names, or ``"*"`` for
            every other tool. Strategies without a user interface pause the run, all calls of a
            turn in one pause.
        rewrite_edits: Write a changed call into the model's message. Otherwise the message keeps
            the call as the model made it, and the result says what ran.

    Raises:
        ConfigurationError: A key is no tool name, or a value is no strategy.
    """

    def __init__(
        self, confirmation_strategies: Mapping[Any, Any], *, rewrite_edits: bool = False
    ) -> None:
        self.confirmation_strategies: dict[ToolKey, Any] = dict(confirmation_strategies)
        self.rewrite_edits = rewrite_edits
        rules = {key: _rule(key, s) for key, s in self.confirmation_strategies.items()}
        super().__init__(Reviewer(rules=RuleBook(rules)), rewrite_edits=rewrite_edits)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; a tuple of names becomes a JSON array in a string."""
        strategies = {plain_key(k): to_plain(s) for k, s in self.confirmation_strategies.items()}
        return to_plain(self, confirmation_strategies=strategies, rewrite_edits=self.rewrite_edits)

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], registry: Mapping[str, type[Any]] | None = None
    ) -> ApprovalMiddleware:
        """The middleware from :meth:`to_dict`.

        Args:
            data: The plain data.
            registry: Strategies, policies and user interfaces of your own, by class name.

        Raises:
            ConfigurationError: A class is not known, or a parameter is wrong.
        """
        parameters = dict(cast("Mapping[str, Any]", data.get("init_parameters") or {}))
        strategies = parameters.pop("confirmation_strategies", None)
        if not isinstance(strategies, Mapping) or not set(parameters) <= {"rewrite_edits"}:
            msg = f"{dict(data)!r} describes no ApprovalMiddleware; give confirmation_strategies."
            raise ConfigurationError(msg)
        given = cast("Mapping[str, Any]", strategies)
        made = {tool_key(k): from_plain(s, registry) for k, s in given.items()}
        return cls(made, **parameters)


def _rule(key: ToolKey, strategy: Any) -> Rule:
    if not callable(getattr(strategy, "run", None)):
        msg = f"The strategy for {key!r} is {strategy!r}; give an object with a run method."
        raise ConfigurationError(msg)
    policy = getattr(strategy, "confirmation_policy", None) or AlwaysAskPolicy()
    if not isinstance(strategy, HumanInTheLoopStrategy):
        return Rule(policy=policy, strategy=strategy, wording=TemplateWording())
    pauses = strategy.confirmation_ui is None
    return Rule(policy=policy, strategy=None if pauses else strategy, wording=strategy.wording)
