"""The model of a job with its schema bound: looked up, checked and bound once."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import ensure_config

from ...middleware.request import ModelRequest
from ...state.errors import ConfigurationError
from ...tools.calls import Dual
from ..binding import ModelBinder, check_model
from ..listeners import somebody_listens
from ..structured_output import OutputPlan, supports_provider_strategy
from ..structured_output.strategies import AutoStrategy, as_strategy
from .record_flow import Extractor


def chat_model_of(model: str | BaseChatModel) -> BaseChatModel:
    """Give the chat model that a name means, or the model itself.

    Raises:
        ConfigurationError: There is no such model.
        TypeError: It is neither a name nor a chat model.
    """
    if isinstance(model, str):
        from ..models.registry import init_chat_model  # noqa: PLC0415 -- only strings need it

        return init_chat_model(model)
    return check_model(model)


def extractor_for(model: BaseChatModel, schema: Any, settings: Mapping[str, Any]) -> Extractor:
    """Bind a schema to a model.

    Args:
        model: The chat model.
        schema: A schema, a union of them, or a strategy.
        settings: As ``checked_settings`` gives them.

    Raises:
        ConfigurationError: The schema cannot be used, or the model takes none.
    """
    strategy = as_strategy(schema)
    if strategy is not schema and isinstance(strategy, AutoStrategy):
        strategy = AutoStrategy[Any](schema, max_retries=settings["max_retries"])
    plan = OutputPlan.from_response_format(strategy)
    binder = ModelBinder((), supports_provider_strategy, open_ended=False)
    request = ModelRequest[Any](model=model, messages=[], response_format=strategy)
    bound = binder.bind(request, plan)
    if bound.active is None:
        msg = "There is no schema to extract; give one."
        raise ConfigurationError(msg)
    limit = settings["rate_limit"]
    return Extractor(
        bound.public,
        bound.active,
        instructions=settings["instructions"],
        retry=settings["retry"],
        time_limit_s=settings["timeout_s"],
        turn_wait_s=(lambda: 0.0) if limit is None else (lambda: limit.reserve(time.monotonic())),
        direct=None if somebody_listens(ensure_config().get("callbacks")) else bound.direct,
    )


def identity(model: BaseChatModel) -> str:
    """Name a model, so that a job is not gone on with by another one."""
    inner: Any = model
    while isinstance(inner, RunnableBindingBase):
        inner = cast("RunnableBindingBase[Any, Any]", inner).bound
    for attribute in ("model_name", "model", "model_id"):
        name = getattr(inner, attribute, None)
        if isinstance(name, str) and name:
            return f"{type(inner).__name__}:{name}"
    return type(inner).__name__


def closer(model: BaseChatModel) -> Dual | None:
    """What lets go of a model's connections or processes, where it has any."""
    close, aclose = getattr(model, "close", None), getattr(model, "aclose", None)
    return Dual("close", close, aclose) if close or aclose else None
