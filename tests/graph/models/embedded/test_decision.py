"""Which of the engine's calls are made."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage

from interlock.graph.models.embedded.answer import Answer, Call
from interlock.graph.models.embedded.conversation import Conversation, read_conversation
from interlock.graph.models.embedded.decision import Decision, Rules, decide
from interlock.graph.models.embedded.tool_set import EngineTool

OSLO = Call("weather", {"city": "Oslo"})
ROME = Call("weather", {"city": "Rome"})


def answer(*calls: Call, **fields: Any) -> Answer:
    given: dict[str, Any] = {
        "calls": calls,
        "suppressed": (),
        "reasoning": "",
        "confidence": 0.7,
        "ungrounded": (),
        "negated": False,
        **fields,
    }
    return Answer(**given)


def history(*answered: Call) -> Conversation:
    messages: list[Any] = [HumanMessage("Weather in Oslo?")]
    for number, call in enumerate(answered):
        made = ToolCall(name=call.name, args=call.arguments, id=f"c{number}")
        messages += [
            AIMessage("", tool_calls=[made]),
            ToolMessage("clear", tool_call_id=made["id"]),
        ]
    return read_conversation(messages)


def decided(given: Answer, *answered: Call, **rules: Any) -> Decision:
    return decide(given, history(*answered), [], Rules(**rules))


SUPPRESSED = answer(suppressed=(OSLO,), confidence=0.05)
NEGATED = answer(OSLO, negated=True)
UNSURE = answer(OSLO, confidence=0.2)
INVENTED = answer(ROME, ungrounded=("weather.city",))


@pytest.mark.parametrize("given", [SUPPRESSED, NEGATED, UNSURE, INVENTED])
def test_a_call_in_doubt_is_made_only_where_one_is_due(given: Answer) -> None:
    calls = given.calls or given.suppressed
    withheld = decided(given, min_confidence=0.25)
    assert (withheld.calls, withheld.withheld) == ((), calls)
    assert len(withheld.reasons) == 1
    assert decided(given, min_confidence=0.25, forced=True).calls == calls


@pytest.mark.parametrize("given", [NEGATED, INVENTED])
def test_only_the_strict_look_for_ground(given: Answer) -> None:
    assert decided(given, strict=False).calls == given.calls


def test_calls_without_doubt_are_made() -> None:
    assert decided(answer(OSLO, ROME), min_confidence=0.25) == Decision(
        answer(OSLO, ROME), (OSLO, ROME)
    )


def test_an_answer_without_calls_withholds_nothing() -> None:
    assert decided(answer(confidence=0.1), min_confidence=0.25).reasons == ()


def test_an_engine_that_does_not_know_its_confidence_is_trusted() -> None:
    assert decided(answer(OSLO, confidence=None), min_confidence=0.25).calls == (OSLO,)


@pytest.mark.parametrize("forced", [False, True])
def test_a_call_that_was_answered_is_not_made_again(forced: bool) -> None:
    assert decided(answer(OSLO, ROME), OSLO, forced=forced).calls == (ROME,)
    again = decided(answer(OSLO), OSLO, forced=forced)
    assert (again.calls, again.withheld) == ((), (OSLO,))


def test_a_required_argument_that_may_be_null_is_null_when_left_out() -> None:
    tool = EngineTool("weather", {}, frozenset({"unit", "city"}))
    (call,) = decide(answer(OSLO), history(), [tool], Rules()).calls
    assert call.arguments == {"city": "Oslo", "unit": None}
