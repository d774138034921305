"""What happened, in the words of OpenTelemetry's semantic conventions for generative AI.

Source: the GenAI registry of opentelemetry-semantic-conventions 0.66b2, 2026. A test compares the
names with the installed package. Names that begin with ``interlock.`` are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, LLMResult

from ...state.finish import finish_reason

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
AGENT: Final = "gen_ai.agent.name"
CONVERSATION: Final = "gen_ai.conversation.id"
WORKFLOW: Final = "gen_ai.workflow.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_ID: Final = "gen_ai.response.id"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
CACHE_READ: Final = "gen_ai.usage.cache_read.input_tokens"
CACHE_CREATION: Final = "gen_ai.usage.cache_creation.input_tokens"
REASONING: Final = "gen_ai.usage.reasoning.output_tokens"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_CALL: Final = "gen_ai.tool.call.id"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_DESCRIPTION: Final = "gen_ai.tool.description"
TOOL_DEFINITIONS: Final = "gen_ai.tool.definitions"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
SYSTEM: Final = "gen_ai.system_instructions"

EXIT_REASON: Final = "interlock.exit_reason"
STEPS: Final = "interlock.steps"
STEP_INDEX: Final = "interlock.step.index"
TOOL_CALLS: Final = "interlock.tool_calls"
PAUSED: Final = "interlock.paused"
HOOK_NAME: Final = "interlock.hook.name"
HOOK_POINT: Final = "interlock.hook.point"
DECISION: Final = "interlock.approval.decision"

# langchain's names of providers where OpenTelemetry has another one.
_PROVIDERS: Final = {
    "amazon_bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "bedrock_converse": "aws.bedrock",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "ibm": "ibm.watsonx.ai",
    "mistral": "mistral_ai",
    "mistralai": "mistral_ai",
    "xai": "x_ai",
}
_SETTINGS: Final = {
    "temperature": float,
    "top_p": float,
    "top_k": float,
    "max_tokens": int,
    "seed": int,
    "frequency_penalty": float,
    "presence_penalty": float,
}


def of_request(metadata: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """A model call before it is made.

    Args:
        metadata: langchain-core's metadata of the run: ``ls_provider``, ``ls_model_name``, ...
        params: The model's invocation parameters.
    """
    provider = str(metadata.get("ls_provider") or "unknown")
    found: dict[str, Any] = {OPERATION: "chat", PROVIDER: _PROVIDERS.get(provider, provider)}
    model = metadata.get("ls_model_name") or params.get("model") or params.get("model_name")
    if model:
        found[REQUEST_MODEL] = str(model)
    for name, kind in _SETTINGS.items():
        value = params.get(name, metadata.get(f"ls_{name}"))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found[f"gen_ai.request.{name}"] = kind(value)
    return found


def reply_of(response: LLMResult) -> AIMessage | None:
    """The message of a model's response."""
    for row in response.generations:
        for generation in row:
            message = generation.message if isinstance(generation, ChatGeneration) else None
            if isinstance(message, AIMessage):
                return message
    return None


def of_reply(reply: AIMessage) -> dict[str, Any]:
    """What a reply tells about itself."""
    told: dict[str, Any] = reply.response_metadata
    found = of_usage(cast("Mapping[str, Any]", reply.usage_metadata or {}))
    if model := told.get("model_name") or told.get("model") or told.get("model_id"):
        found[RESPONSE_MODEL] = str(model)
    if ident := told.get("id") or told.get("response_id"):
        found[RESPONSE_ID] = str(ident)
    if reason := finish_reason(reply):
        found[FINISH_REASONS] = [reason]
    return found


def of_usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Usage metadata, of a call or of a whole run."""
    given: Mapping[str, Any] = usage.get("input_token_details") or {}
    taken: Mapping[str, Any] = usage.get("output_token_details") or {}
    counts = {
        INPUT_TOKENS: usage.get("input_tokens"),
        OUTPUT_TOKENS: usage.get("output_tokens"),
        CACHE_READ: given.get("cache_read"),
        CACHE_CREATION: given.get("cache_creation"),
        REASONING: taken.get("reasoning"),
    }
    return {name: count for name, count in counts.items() if isinstance(count, int)}


def of_result(result: Any) -> dict[str, Any]:
    """What the result of a run says about the run."""
    if not isinstance(result, Mapping):
        return {}
    told = cast("Mapping[str, Any]", result)
    found = of_usage(told.get("token_usage") or {})
    if (reason := told.get("exit_reason")) is not None:
        found[EXIT_REASON] = reason
    if (steps := told.get("step_count")) is not None:
        found[STEPS] = steps
    if counts := told.get("tool_call_counts"):
        found[TOOL_CALLS] = sum(counts.values())
    return found


def of_tool(serialized: Mapping[str, Any] | None, call_id: str | None) -> dict[str, Any]:
    """A tool call before it runs."""
    told = serialized or {}
    found = {
        OPERATION: "execute_tool",
        TOOL_NAME: str(told.get("name") or "tool"),
        TOOL_TYPE: "function",
        TOOL_DESCRIPTION: told.get("description"),
        TOOL_CALL: call_id,
    }
    return {name: value for name, value in found.items() if value}
