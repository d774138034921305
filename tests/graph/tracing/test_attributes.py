from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from opentelemetry.semconv._incubating.attributes import error_attributes, gen_ai_attributes

from interlock.graph.tracing import attributes as named

# The names have moved to a repository of their own, and the package calls each one deprecated.
CONVENTIONS: Any = vars(gen_ai_attributes)


def test_every_name_is_one_of_the_conventions_or_ours() -> None:
    known = {value for key, value in CONVENTIONS.items() if key.startswith("GEN_AI_")}
    names = [v for k, v in vars(named).items() if k.isupper() and isinstance(v, str)]
    settings = [f"gen_ai.request.{name}" for name in vars(named)["_SETTINGS"]]
    given = [name for name in [*names, *settings] if not name.startswith("interlock.")]
    assert set(given) <= known
    assert error_attributes.ERROR_TYPE == "error.type"


def test_operations_and_providers_have_the_conventions_names() -> None:
    operations = {o.value for o in CONVENTIONS["GenAiOperationNameValues"]}
    providers = {p.value for p in CONVENTIONS["GenAiProviderNameValues"]}
    assert {"invoke_agent", "invoke_workflow", "execute_tool", "chat"} <= operations
    assert set(vars(named)["_PROVIDERS"].values()) <= providers


@pytest.mark.parametrize(
    ("metadata", "params", "found"),
    [
        (
            {"ls_provider": "openai", "ls_model_name": "gpt", "ls_temperature": 1},
            {"max_tokens": 7, "top_p": 0.5, "stop": None},
            {
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "gpt",
                "gen_ai.request.temperature": 1.0,
                "gen_ai.request.max_tokens": 7,
                "gen_ai.request.top_p": 0.5,
            },
        ),
        (
            {"ls_provider": "amazon_bedrock"},
            {"model": "claude"},
            {"gen_ai.provider.name": "aws.bedrock", "gen_ai.request.model": "claude"},
        ),
        ({}, {}, {"gen_ai.provider.name": "unknown"}),
    ],
)
def test_a_request_tells_provider_model_and_settings(
    metadata: dict[str, Any], params: dict[str, Any], found: dict[str, Any]
) -> None:
    expected = {"gen_ai.operation.name": "chat", **found}
    assert named.of_request(metadata, params) == expected


def test_a_reply_tells_usage_model_and_finish_reason() -> None:
    usage: Any = {
        "input_tokens": 5,
        "output_tokens": 2,
        "total_tokens": 7,
        "input_token_details": {"cache_read": 3},
        "output_token_details": {"reasoning": 1},
    }
    told = {"model_name": "gpt-1", "id": "resp", "finish_reason": "stop"}
    assert named.of_reply(AIMessage("x", usage_metadata=usage, response_metadata=told)) == {
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.usage.cache_read.input_tokens": 3,
        "gen_ai.usage.reasoning.output_tokens": 1,
        "gen_ai.response.model": "gpt-1",
        "gen_ai.response.id": "resp",
        "gen_ai.response.finish_reasons": ["stop"],
    }
