"""What is known about each OpenAI-compatible provider: address, key variable, habits.

Source: the providers' API documentation, 2026. A habit that is not listed is the one of
OpenAI's chat completions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from langchain_core.language_models import ModelProfile

_HOSTED: Final = ModelProfile(
    text_inputs=True, text_outputs=True, tool_calling=True, tool_choice=True
)
_WITH_SCHEMA: Final[ModelProfile] = {**_HOSTED, "structured_output": True}
# Local servers enforce a schema with a grammar, and a grammar keeps the model from calling
# tools; agents there do better with structured output as a tool.
_LOCAL: Final[ModelProfile] = {**_HOSTED, "structured_output": False}


@dataclass(frozen=True, slots=True)
class Provider:
    """An endpoint that speaks OpenAI's chat completions."""

    name: str
    """The word before the colon in ``provider:model``."""
    base_url: str | None
    """Where it is, or None where every account has its own address."""
    key_variable: str | None
    """Environment variable of the key, or None where no key is needed."""
    url_variable: str | None = None
    """Environment variable that replaces the address."""
    url_suffix: str = ""
    """What is added to an address from the environment that lacks it."""
    aliases: tuple[str, ...] = ()
    """Other names of the provider."""
    profile: ModelProfile = field(default_factory=lambda: ModelProfile(**_HOSTED))
    """What its models can do, where the model itself is not known better."""
    key_header: Literal["authorization", "api-key"] = "authorization"
    """Header that carries the key."""
    max_tokens_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Name of the setting that limits the answer's length."""
    required_choice: str = "required"
    """The tool choice that means: call some tool."""
    stream_options: bool = True
    """It accepts ``stream_options`` to report token counts in a stream."""
    echo_reasoning: bool = False
    """It wants reasoning back with the assistant messages of the history."""


_TABLE: Final = (
    Provider(
        "openai",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        url_variable="OPENAI_BASE_URL",
        profile=_WITH_SCHEMA,
        max_tokens_key="max_completion_tokens",
    ),
    Provider(
        "azure_openai",
        None,
        "AZURE_OPENAI_API_KEY",
        url_variable="AZURE_OPENAI_ENDPOINT",
        url_suffix="/openai/v1",
        aliases=("azure",),
        profile=_WITH_SCHEMA,
        key_header="api-key",
        max_tokens_key="max_completion_tokens",
    ),
    Provider("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    Provider("deepinfra", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    Provider(
        "deepseek",
        "https://api.deepseek.com/v1",
        "DEEPSEEK_API_KEY",
        echo_reasoning=True,
    ),
    Provider(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        profile=_WITH_SCHEMA,
    ),
    Provider(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        profile=_WITH_SCHEMA,
    ),
    Provider("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    Provider("huggingface", "https://router.huggingface.co/v1", "HF_TOKEN"),
    Provider(
        "mistralai",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        aliases=("mistral",),
        required_choice="any",
        stream_options=False,
    ),
    Provider(
        "moonshot",
        "https://api.moonshot.ai/v1",
        "MOONSHOT_API_KEY",
        aliases=("kimi",),
        echo_reasoning=True,
    ),
    Provider("nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
    Provider(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        profile=_HOSTED,
    ),
    Provider("perplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY"),
    Provider(
        "qwen",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        aliases=("dashscope",),
    ),
    Provider("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    Provider("xai", "https://api.x.ai/v1", "XAI_API_KEY", profile=_WITH_SCHEMA),
    Provider("zai", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY", aliases=("zhipu",)),
    Provider(
        "llamacpp",
        "http://127.0.0.1:8080/v1",
        None,
        url_variable="LLAMACPP_BASE_URL",
        aliases=("llama_cpp", "llama.cpp"),
        profile=_LOCAL,
    ),
    Provider(
        "lmstudio",
        "http://127.0.0.1:1234/v1",
        None,
        url_variable="LMSTUDIO_BASE_URL",
        aliases=("lm_studio",),
        profile=_LOCAL,
    ),
    Provider(
        "ollama",
        "http://127.0.0.1:11434/v1",
        None,
        url_variable="OLLAMA_HOST",
        url_suffix="/v1",
        profile=_LOCAL,
    ),
    Provider(
        "vllm", "http://127.0.0.1:8000/v1", None, url_variable="VLLM_BASE_URL", profile=_LOCAL
    ),
)

UNKNOWN: Final = Provider("openai_compatible", None, None)
"""Any other endpoint: the address is a setting, a key is optional and never read from the
environment, since it could belong to somebody else."""

PROVIDERS: Final[Mapping[str, Provider]] = {
    name: provider for provider in (*_TABLE, UNKNOWN) for name in (provider.name, *provider.aliases)
}
"""Every provider by each of its names."""

_NO_SCHEMA: Final = ("gpt-3.5", "gpt-4-", "gpt-4o-2024-05-13")


def profile_of(provider: Provider, model: str) -> ModelProfile | None:
    """Return what a model can do, as far as the table knows.

    Args:
        provider: Who serves it.
        model: Its name.
    """
    if provider is UNKNOWN:
        return None
    profile = ModelProfile(**provider.profile)
    if model == "gpt-4" or model.startswith(_NO_SCHEMA):
        profile["structured_output"] = False
    return profile
