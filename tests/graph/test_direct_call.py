"""The short way to a model gives what the public one gives, and is taken only when it may."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.rate_limiters import InMemoryRateLimiter
from pydantic import PrivateAttr

from interlock.graph import create_agent
from interlock.graph.direct_call import direct_call, may_call_directly
from interlock.middleware import AgentMiddleware

USAGE: Any = {"input_tokens": 2, "output_tokens": 1, "total_tokens": 3}


class Counted(BaseChatModel):
    """Counts how often langchain-core's own bookkeeping ran."""

    streaming: bool = False
    _public: list[int] = PrivateAttr(default_factory=list[int])

    @property
    def _llm_type(self) -> str:
        return "counted"

    @property
    def public_calls(self) -> int:
        return len(self._public)

    def _get_invocation_params(
        self, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        self._public.append(1)
        return super()._get_invocation_params(stop, **kwargs)

    def _generate(
        self,
        messages: Any,  # noqa: ARG002 - langchain-core's signature
        stop: Any = None,
        run_manager: Any = None,  # noqa: ARG002 - langchain-core's signature
        **kwargs: Any,
    ) -> ChatResult:
        info = {"finish_reason": "stop", "temperature": kwargs.get("temperature"), "stop": stop}
        message = AIMessage("hi", response_metadata={"model_name": "m"}, usage_metadata=USAGE)
        generation = ChatGeneration(message=message, generation_info=info)
        return ChatResult(generations=[generation], llm_output={"request": "r"})


@pytest.mark.parametrize("arguments", [{}, {"temperature": 0.5}, {"stop": ["x"]}])
async def test_both_ways_give_the_same_message(arguments: dict[str, Any]) -> None:
    bound: Any = Counted().bind(**arguments) if arguments else Counted()
    direct = direct_call(bound)
    assert direct is not None
    assert direct.sync is not None
    assert direct.asynchronous is not None
    public = bound.invoke([HumanMessage("x")])
    for message in (
        direct.sync([HumanMessage("x")]),
        await direct.asynchronous([HumanMessage("x")]),
    ):
        assert message.id.startswith("lc_run-")
        assert message.model_copy(update={"id": public.id}) == public


def _with(**fields: Any) -> Any:
    return Counted(**fields)


@pytest.mark.parametrize(
    "model",
    [
        _with(callbacks=[]).with_config(tags=["x"]),
        _with(cache=True),
        _with(rate_limiter=InMemoryRateLimiter()),
        _with(streaming=True),
        _with(verbose=True),
        _with(output_version="v1"),
        _with().bind(stream=True),
        _with() | StrOutputParser(),
    ],
)
def test_whatever_is_out_of_the_ordinary_takes_the_public_way(model: Any) -> None:
    assert direct_call(model) is None


def test_content_blocks_but_text_take_the_public_way() -> None:
    assert may_call_directly([HumanMessage("x")], layered=False)
    assert may_call_directly([HumanMessage(["x", {"type": "text", "text": "x"}])], layered=False)
    image: Any = {"type": "image", "source_type": "url", "url": "https://example.com/x.png"}
    assert not may_call_directly([HumanMessage([image])], layered=False)


async def test_an_unobserved_run_spares_the_bookkeeping(run: Any) -> None:
    class Layer(AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request)

    for middleware in ([], [Layer()]):
        model = Counted()
        await run(create_agent(model, [], middleware=middleware), {"messages": "x"})
        assert model.public_calls == 0


async def test_a_layer_that_listens_hears_the_model(run: Any) -> None:
    totals: list[Any] = []

    class Meter(AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            with get_usage_metadata_callback() as usage:
                response = handler(request)
            totals.append(usage.usage_metadata)
            return response

    await run(create_agent(Counted(), [], middleware=[Meter()]), {"messages": "x"})
    assert totals == [{"m": USAGE}]


async def test_callbacks_of_a_run_hear_the_model(run: Any) -> None:
    with get_usage_metadata_callback() as usage:
        await run(create_agent(Counted(), []), {"messages": "x"})
    assert usage.usage_metadata == {"m": USAGE}
