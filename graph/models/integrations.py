"""Where an installed LangChain integration keeps its chat model.

Source: the provider names of LangChain 1.5.2's ``init_chat_model``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, cast

from langchain_core.language_models import BaseChatModel

from ...state.errors import ConfigurationError

_MODULES: Final[Mapping[str, tuple[str, str]]] = {
    "anthropic": ("langchain_anthropic", "ChatAnthropic"),
    "anthropic_bedrock": ("langchain_aws", "ChatAnthropicBedrock"),
    "azure_ai": ("langchain_azure_ai.chat_models", "AzureAIOpenAIApiChatModel"),
    "azure_openai": ("langchain_openai", "AzureChatOpenAI"),
    "baseten": ("langchain_baseten", "ChatBaseten"),
    "bedrock": ("langchain_aws", "ChatBedrock"),
    "bedrock_converse": ("langchain_aws", "ChatBedrockConverse"),
    "cohere": ("langchain_cohere", "ChatCohere"),
    "deepseek": ("langchain_deepseek", "ChatDeepSeek"),
    "fireworks": ("langchain_fireworks", "ChatFireworks"),
    "google_anthropic_vertex": (
        "langchain_google_vertexai.model_garden",
        "ChatAnthropicVertex",
    ),
    "google_genai": ("langchain_google_genai", "ChatGoogleGenerativeAI"),
    "google_vertexai": ("langchain_google_vertexai", "ChatVertexAI"),
    "groq": ("langchain_groq", "ChatGroq"),
    "huggingface": ("langchain_huggingface", "ChatHuggingFace"),
    "ibm": ("langchain_ibm", "ChatWatsonx"),
    "litellm": ("langchain_litellm", "ChatLiteLLM"),
    "mistralai": ("langchain_mistralai", "ChatMistralAI"),
    "nvidia": ("langchain_nvidia_ai_endpoints", "ChatNVIDIA"),
    "ollama": ("langchain_ollama", "ChatOllama"),
    "openai": ("langchain_openai", "ChatOpenAI"),
    "openrouter": ("langchain_openrouter", "ChatOpenRouter"),
    "perplexity": ("langchain_perplexity", "ChatPerplexity"),
    "together": ("langchain_together", "ChatTogether"),
    "upstage": ("langchain_upstage", "ChatUpstage"),
    "xai": ("langchain_xai", "ChatXAI"),
}

_PLAIN: Final = re.compile(r"[a-z][a-z0-9_]*")
_MODEL_ARGUMENT: Final = {"ibm": "model_id"}


def integration_names() -> list[str]:
    """Return the providers that some LangChain integration serves, installed or not."""
    return sorted(_MODULES)


def package_of(provider: str) -> str:
    """Return the package that brings a provider's integration.

    Args:
        provider: The provider's name.
    """
    module = _MODULES[provider][0] if provider in _MODULES else f"langchain_{provider}"
    return module.partition(".")[0].replace("_", "-")


def is_installed(provider: str) -> bool:
    """Tell whether a provider's LangChain integration is installed here.

    Args:
        provider: The provider's name; one that is not in the table may have a package too.
    """
    if not _PLAIN.fullmatch(provider):
        return False
    module = _MODULES[provider][0] if provider in _MODULES else f"langchain_{provider}"
    return find_spec(module.partition(".")[0]) is not None


def integration_model(provider: str, model: str, settings: Mapping[str, Any]) -> BaseChatModel:
    """Return the chat model of an installed integration.

    Args:
        provider: The provider's name; ``is_installed`` holds for it.
        model: The model's name.
        settings: Passed on to the integration.

    Raises:
        ConfigurationError: The integration does not offer the class that is expected.
    """
    found: Any = _chat_class(provider)
    if provider == "huggingface":
        return cast("BaseChatModel", found.from_model_id(model_id=model, **settings))
    return cast(
        "BaseChatModel", found(**{_MODEL_ARGUMENT.get(provider, "model"): model}, **settings)
    )


def _chat_class(provider: str) -> type[BaseChatModel]:
    if provider in _MODULES:
        module_name, class_name = _MODULES[provider]
        found = getattr(import_module(module_name), class_name, None)
        candidates = [] if found is None else [found]
    else:
        module = import_module(f"langchain_{provider}")
        candidates = [
            value
            for name, value in vars(module).items()
            if name.startswith("Chat")
            and isinstance(value, type)
            and issubclass(value, BaseChatModel)
        ]
    if len(candidates) != 1:
        msg = (
            f"{package_of(provider)!r} offers {len(candidates)} chat models where one is expected. "
            "Make the model object yourself and pass it."
        )
        raise ConfigurationError(msg)
    return cast("type[BaseChatModel]", candidates[0])
