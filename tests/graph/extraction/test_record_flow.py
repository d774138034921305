from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.exceptions import ModelAuthenticationError, ModelRateLimitError
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel

from interlock.graph.extraction import Extraction, Extractor, Record, extract_record
from interlock.graph.structured_output import OutputPlan, ToolStrategy
from interlock.middleware.flows import Ask, adrive, drive
from interlock.middleware.retrying import RetryPolicy
from interlock.state.errors import ConfigurationError
from interlock.tools.calls import Dual

RECORD = Record(0, "0", "Oslo has 717,710 people.")
USAGE: Any = {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6}
NO_WAIT = RetryPolicy(max_retries=2, initial_delay=0)


class City(BaseModel):
    name: str


def called(name: str, args: dict[str, Any]) -> AIMessage:
    call: Any = {"name": name, "args": args, "id": "c"}
    return AIMessage("", tool_calls=[call], usage_metadata=USAGE)


RIGHT, WRONG = called("City", {"name": "Oslo"}), called("City", {})


class Script:
    """Answers one step after the other and keeps what it was asked."""

    def __init__(self, *steps: Any) -> None:
        self.steps = list(steps)
        self.asked: list[list[BaseMessage]] = []

    def __call__(self, messages: list[BaseMessage]) -> Any:
        self.asked.append(list(messages))
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


def extractor(script: Callable[..., Any], **settings: Any) -> Extractor:
    strategy = ToolStrategy(City)
    output = OutputPlan.from_response_format(strategy).resolve(strategy, "m")
    assert output is not None
    model = RunnableLambda(script)
    asked = Dual("model", model.invoke, model.ainvoke)
    return Extractor(asked, output, retry=NO_WAIT, **settings)


def extracted(script: Script, **settings: Any) -> Extraction[Any]:
    return drive(extract_record(RECORD, extractor(script, **settings)), print)


def test_record_becomes_a_value() -> None:
    script = Script(RIGHT)
    result = extracted(script)

    assert (result.value, result.rejected, result.attempts) == (City(name="Oslo"), False, 1)
    assert (result.data, result.schema_name) == ({"name": "Oslo"}, "City")
    assert [message.type for message in script.asked[0]] == ["system", "human"]


async def test_flow_runs_in_an_event_loop_too() -> None:
    result: Any = await adrive(extract_record(RECORD, extractor(Script(RIGHT))), print)  # type: ignore[arg-type]

    assert result.value == City(name="Oslo")


def test_wrong_answer_is_asked_about_again_and_its_tokens_count() -> None:
    script = Script(WRONG, AIMessage("prose", usage_metadata=USAGE), RIGHT)
    result = extracted(script)

    assert (result.value, result.attempts) == (City(name="Oslo"), 3)
    assert result.usage["total_tokens"] == 18
    assert isinstance(script.asked[1][-1], ToolMessage)
    assert [m.type for m in script.asked[2][2:]] == ["ai", "tool", "ai", "human"]


def test_record_without_a_valid_answer_is_rejected_with_the_last_one() -> None:
    result = extracted(Script(WRONG, WRONG, WRONG))

    assert (result.error_type, result.attempts) == ("InvalidExtractionError", 3)
    assert result.last_output == "City({})"
    assert "name: Field required" in str(result.error)


def test_call_of_a_tool_that_does_not_exist_is_a_wrong_answer() -> None:
    script = Script(called("search", {}), RIGHT)

    assert extracted(script).value == City(name="Oslo")
    (answer,) = script.asked[1][3:]
    assert isinstance(answer, ToolMessage)
    assert answer.status == "error"


def test_failed_request_is_made_again() -> None:
    result = extracted(Script(TimeoutError(), ModelRateLimitError("slow down"), RIGHT))

    assert (result.value, result.attempts) == (City(name="Oslo"), 3)


def test_record_whose_requests_keep_failing_is_rejected() -> None:
    result = extracted(Script(*[TimeoutError("too slow")] * 3))

    assert (result.error, result.error_type, result.attempts) == ("too slow", "TimeoutError", 3)


@pytest.mark.parametrize("error", [ModelAuthenticationError("no key"), ConfigurationError("x")])
def test_error_that_every_record_will_meet_ends_the_job(error: Exception) -> None:
    with pytest.raises(type(error)):
        extracted(Script(error))


def test_model_that_gives_no_messages_ends_the_job() -> None:
    with pytest.raises(ConfigurationError, match="'str'"):
        extracted(Script("text"))


def test_record_without_text_costs_nothing() -> None:
    script = Script()
    result = drive(extract_record(Record(0, "0", " \n"), extractor(script)), print)

    assert (result.error, result.attempts) == ("the record has no text", 0)


def test_no_request_is_made_after_the_time_limit() -> None:
    times = iter([0.0, 1.0, 1.0, 61.0, 61.0])
    result = extracted(Script(WRONG), time_limit_s=60, clock=lambda: next(times))

    assert (result.error_type, result.attempts, result.seconds) == ("TimeLimit", 1, 61.0)


def test_request_waits_for_its_turn() -> None:
    flow = extract_record(RECORD, extractor(Script(), turn_wait_s=lambda: 2.5))
    asked = next(flow)

    assert isinstance(asked, Ask)
    assert asked.args == (2.5,)
    flow.close()
