"""The settings of the embedded model, with the limits and rules that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel, LangSmithParams, ModelProfile
from pydantic import ConfigDict, Field, ValidationError
from typing_extensions import override

from ....state.errors import ConfigurationError
from ....state.model_errors import ChatModelContextOverflowError
from .decision import Rules
from .tokens import token_estimate
from .tool_set import ToolLimits


class EmbeddedSettings(BaseChatModel):
    """What the embedded model is made of, without its calls."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    model: Literal["needle3"] = "needle3"
    """Which model. There is one."""
    strict: bool = True
    """Withhold calls whose arguments the engine found nothing for, or that the request negates."""
    min_confidence: float = Field(default=0.25, ge=0, le=1)
    """Withhold calls the engine is less sure of. On its own acceptance cases it is right in 87 of
    96 with 0.1, which it withholds itself, in 90 with 0.25, in 86 with 0.4."""
    earlier_turns: int = Field(default=1, ge=0, le=3)
    """Turns before the current one that the engine is told, each for two more engine turns.
    Measured on follow-up requests: 13 of 16 right with 0, 14 with 1, 15 with 3; beyond that it
    degrades."""
    max_tools: int = Field(default=32, ge=1)
    """Tools that may be offered."""
    max_tool_tokens: int = Field(default=3000, ge=1)
    """How long the tools may be together, by estimate. The engine reads some 200 tokens a second
    before the first request, and cannot read more than 8000."""
    max_input_tokens: int = Field(default=256, ge=1)
    """Longest request, by estimate: the engine's window. What lies before it is misread."""
    max_tokens: int = Field(default=512, ge=1)
    """Longest answer of the engine."""
    max_workers: int = Field(default=4, ge=1)
    """Tool sets that may be loaded at once, about 100 MB each."""
    timeout_s: float = Field(default=300, gt=0)
    """Seconds the engine may take to start, or for one of its turns."""

    def __init__(self, **settings: Any) -> None:
        try:
            super().__init__(**settings)
        except ValidationError as exc:
            wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in exc.errors())
            msg = f"Wrong settings of the embedded model: {wrong}. Correct them."
            raise ConfigurationError(msg) from None

    def rules(self, *, forced: bool) -> Rules:
        """Return when a call is not made.

        Args:
            forced: Some call must be made.
        """
        return Rules(forced=forced, strict=self.strict, min_confidence=self.min_confidence)

    def check_request(self, request: str) -> None:
        """Refuse a request that is too long.

        Args:
            request: What the user wants.

        Raises:
            ChatModelContextOverflowError: The engine would misread it.
        """
        size = token_estimate(request)
        if size > self.max_input_tokens:
            msg = (
                f"The request has about {size} tokens, and the embedded model misreads more than "
                f"{self.max_input_tokens}. Shorten it or split it; or, if what matters stands at "
                "its end, raise max_input_tokens."
            )
            raise ChatModelContextOverflowError(msg)

    @property
    def tool_limits(self) -> ToolLimits:
        """How much may be offered."""
        return ToolLimits(self.max_tools, self.max_tool_tokens)

    @property
    @override
    def _llm_type(self) -> str:
        return "embedded"

    @property
    @override
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"model": self.model, "strict": self.strict, "earlier_turns": self.earlier_turns}

    @override
    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return LangSmithParams(
            ls_provider="embedded", ls_model_name=self.model, ls_model_type="chat"
        )

    @override
    def _resolve_model_profile(self) -> ModelProfile | None:
        return ModelProfile(
            text_inputs=True,
            text_outputs=False,
            tool_calling=True,
            tool_choice=True,
            structured_output=False,
        )
