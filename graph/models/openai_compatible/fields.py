"""The settings of the chat model, checked when it is built and hidden when it is shown."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final, Self
from urllib.parse import urlsplit

import httpx
from langchain_core.language_models import BaseChatModel, LangSmithParams, ModelProfile
from pydantic import ConfigDict, Field, PrivateAttr, SecretStr, ValidationError
from typing_extensions import override

from ....state.errors import ConfigurationError
from ..providers import PROVIDERS, Provider, profile_of
from .connections import Connections
from .hidden import Hidden, secrets_among
from .settings import checked_changes, checked_key, checked_settings

BODY_FIELDS: Final = (
    "temperature",
    "top_p",
    "max_tokens",
    "stop",
    "frequency_penalty",
    "presence_penalty",
    "seed",
    "logprobs",
    "top_logprobs",
    "logit_bias",
    "reasoning_effort",
    "service_tier",
    "user",
)
"""Settings that go into the body of a request under their own name."""

_CONNECTION_FIELDS: Final = frozenset({"proxy", "ca_file", "transport", "async_transport"})


class ChatModelSettings(BaseChatModel):
    """What an OpenAI-compatible chat model is made of, without its calls."""

    model_config = ConfigDict(
        arbitrary_types_allowed=True, extra="forbid", hide_input_in_errors=True
    )

    model: str
    """Name of the model."""
    provider: str = "openai"
    """Who serves it: a name of the provider table, or ``openai_compatible``."""
    base_url: str = ""
    """Address of the API, such as ``https://host/v1``; the provider's own by default."""
    api_key: SecretStr | None = None
    """The key; by default the provider's environment variable. None sends none."""
    timeout: float = 60.0
    """Seconds to wait at most for the connection and for the next bytes of the answer."""
    total_timeout: float = 600.0
    """Seconds a call may take at most, waits between attempts included."""
    max_retries: int = 2
    """Attempts after the first, before any byte of the answer has come."""
    max_retry_wait: float = 60.0
    """Seconds a provider may ask to wait at most; if it asks for more the call fails."""

    temperature: float | None = None
    """Randomness of the answer."""
    top_p: float | None = None
    """Share of the probability mass that is sampled from."""
    max_tokens: int | None = None
    """Longest answer, in tokens."""
    stop: list[str] | str | None = None
    """Texts that end the answer."""
    seed: int | None = None
    """Makes answers repeatable where the provider can."""
    frequency_penalty: float | None = None
    """Discourages words by how often they came."""
    presence_penalty: float | None = None
    """Discourages words that came at all."""
    logprobs: bool | None = None
    """Report log probabilities in ``response_metadata``."""
    top_logprobs: int | None = None
    """How many alternatives to report per token."""
    logit_bias: dict[str, float] | None = None
    """Bias per token id."""
    reasoning_effort: str | None = None
    """How long the model may think, in the provider's words."""
    service_tier: str | None = None
    """The provider's class of service."""
    user: str | None = None
    """Name of the end user, for the provider's abuse checks."""
    streaming: bool = False
    """Stream inside ``invoke`` too."""
    stream_usage: bool | None = None
    """Ask for token counts at the end of a stream; by default where the provider can."""
    model_kwargs: dict[str, Any] = Field(default_factory=dict[str, Any])
    """More keys of the request body; merged with those of a call."""
    extra_body: dict[str, Any] = Field(default_factory=dict[str, Any])
    """Provider extras for the request body; merged in depth with those of a call."""
    echo_reasoning: bool | None = None
    """Send reasoning back with the history; by default where the provider demands it."""

    default_headers: dict[str, SecretStr] = Field(
        default_factory=dict[str, SecretStr], exclude=True, repr=False
    )
    """Headers of every request; their values are treated like keys."""
    default_query: dict[str, str | SecretStr] = Field(default_factory=dict[str, str | SecretStr])
    """Query parameters of every request, such as ``api-version``; what looks like a key is one."""
    proxy: SecretStr | None = Field(default=None, exclude=True, repr=False)
    """URL of a proxy; the environment is never asked for one."""
    ca_file: str | None = None
    """File of certificates to trust instead of the usual ones."""
    transport: httpx.BaseTransport | None = Field(default=None, exclude=True, repr=False)
    """Replaces the network in synchronous calls."""
    async_transport: httpx.AsyncBaseTransport | None = Field(default=None, exclude=True, repr=False)
    """Replaces the network in asynchronous calls."""
    max_event_bytes: int = 8 * 2**20
    """Longest event of a stream, in bytes."""
    max_answer_bytes: int = 64 * 2**20
    """Longest answer, in bytes."""
    max_request_bytes: int = 64 * 2**20
    """Longest request, in bytes."""

    _connections: Connections = PrivateAttr()

    def __init__(self, **settings: Any) -> None:
        try:
            super().__init__(**checked_settings(settings))
        except ValidationError as exc:
            # Its inputs may be keys, so only places and reasons are passed on.
            wrong = "; ".join(
                f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in exc.errors()
            )
            msg = f"Wrong settings: {wrong}. Correct them."
            raise ConfigurationError(msg) from None
        self._connections = self._new_connections()

    @property
    def provider_habits(self) -> Provider:
        """The provider's row of the table."""
        return PROVIDERS[self.provider]

    @property
    def connections(self) -> Connections:
        """The pools requests go through."""
        return self._connections

    @property
    def hidden(self) -> Hidden:
        """Every text that must not be shown: the key, and what looks like one beside it."""
        words = [self.api_key.get_secret_value()] if self.api_key else []
        if self.proxy:
            words.append(urlsplit(self.proxy.get_secret_value()).password or "")
        words += secrets_among(self.default_headers)
        return Hidden([*words, *secrets_among(self.default_query)])

    @property
    @override
    def _llm_type(self) -> str:
        return "openai-compatible-chat"

    @property
    @override
    def _identifying_params(self) -> Mapping[str, Any]:
        named = {name: getattr(self, name) for name in BODY_FIELDS}
        return {
            "model": self.model,
            "provider": self.provider,
            "base_url": self.base_url,
            **{name: value for name, value in named.items() if value is not None},
            **self.model_kwargs,
            **self.extra_body,
        }

    @override
    def _get_invocation_params(
        self, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        # Traces show these, and headers or query of a call may hold keys.
        shown = {k: v for k, v in kwargs.items() if k not in ("extra_headers", "extra_query")}
        params: dict[str, Any] = super()._get_invocation_params(stop=stop, **shown)
        return params

    @override
    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        params = LangSmithParams(
            ls_provider=self.provider,
            ls_model_name=str(kwargs.get("model") or self.model),
            ls_model_type="chat",
        )
        temperature = kwargs.get("temperature", self.temperature)
        if temperature is not None:
            params["ls_temperature"] = temperature
        max_tokens = kwargs.get("max_tokens", self.max_tokens)
        if max_tokens is not None:
            params["ls_max_tokens"] = max_tokens
        stops = stop or self.stop
        if stops:
            params["ls_stop"] = [stops] if isinstance(stops, str) else stops
        return params

    @override
    def _resolve_model_profile(self) -> ModelProfile | None:
        return profile_of(self.provider_habits, self.model)

    @classmethod
    @override
    def is_lc_serializable(cls) -> bool:
        return True

    @property
    @override
    def lc_secrets(self) -> dict[str, str]:
        return {"api_key": self.provider_habits.key_variable or "API_KEY"}

    # --- copies ----------------------------------------------------------------------------

    @override
    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, with its changes checked like new settings.

        Args:
            update: Settings to change.
            deep: Copy values in depth.

        Raises:
            ConfigurationError: A change is wrong.
        """
        changes = checked_changes(update or {}, self.provider_habits)
        if unknown := changes.keys() - type(self).model_fields.keys():
            msg = f"Unknown settings {sorted(unknown)}. Correct their names."
            raise ConfigurationError(msg)
        copied = super().model_copy(update=changes, deep=deep)
        if _CONNECTION_FIELDS & changes.keys():
            copied._connections = copied._new_connections()  # noqa: SLF001  # of the same class
        return copied

    def __getstate__(self) -> dict[Any, Any]:
        # A pickle holds no secret and no connection; the key comes from the environment again.
        state = super().__getstate__()
        hidden: dict[str, Any] = {"api_key": None, "default_headers": {}, "proxy": None}
        hidden |= {"transport": None, "async_transport": None}
        shown = {k: v for k, v in self.default_query.items() if isinstance(v, str)}
        hidden["default_query"] = shown
        state["__dict__"] = {**state["__dict__"], **hidden}
        state["__dict__"].pop("_serialized", None)
        return state

    def __setstate__(self, state: dict[Any, Any]) -> None:
        super().__setstate__(state)
        variable = self.provider_habits.key_variable
        if variable and variable in os.environ:
            self.api_key = checked_key(None, self.provider_habits)
        self._connections = self._new_connections()

    def _new_connections(self) -> Connections:
        return Connections(
            proxy=self.proxy.get_secret_value() if self.proxy else None,
            ca_file=self.ca_file,
            transport=self.transport,
            async_transport=self.async_transport,
        )
