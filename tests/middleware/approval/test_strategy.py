"""Strategies that ask here and now, in an agent and by themselves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.middleware import (
    AlwaysAskPolicy,
    ApprovalMiddleware,
    AskOncePolicy,
    BlockingConfirmationStrategy,
    CallbackUI,
    ConfirmationUIResult,
    HumanInTheLoopStrategy,
    InvalidDecisionError,
    NeverAskPolicy,
    ToolExecutionDecision,
)
from interlock.state import ConfigurationError

Run = Callable[..., Awaitable[dict[str, Any]]]
Calling = Callable[..., AIMessage]
Texts = Callable[[dict[str, Any]], dict[str, str]]

GO: dict[str, Any] = {"messages": [HumanMessage("go")]}
THREAD: dict[str, Any] = {"configurable": {"thread_id": "t"}}
CONFIRM = ConfirmationUIResult("confirm")


class Person:
    """Answers with the given results, and keeps what was shown."""

    def __init__(self, *results: ConfirmationUIResult) -> None:
        self.results = list(results)
        self.shown: list[tuple[str, str, dict[str, Any]]] = []

    def strategy(self, *, later: bool = False, **settings: Any) -> HumanInTheLoopStrategy:
        def at_once(*shown: Any) -> ConfirmationUIResult:
            self.shown.append(cast("tuple[str, str, dict[str, Any]]", shown))
            return self.results.pop(0)

        async def awaited(*shown: Any) -> ConfirmationUIResult:
            return at_once(*shown)

        ui = CallbackUI(awaited if later else at_once)
        return HumanInTheLoopStrategy(confirmation_ui=ui, **settings)


@pytest.mark.parametrize("later", [False, True], ids=["def", "async def"])
async def test_person_is_asked_for_each_call_in_order_without_a_checkpointer(
    desk: Any, run: Run, calling: Calling, texts: Texts, later: bool
) -> None:
    person = Person(CONFIRM, ConfirmationUIResult("reject", "not b"))
    review = ApprovalMiddleware({"send": person.strategy(later=later)})
    reply = calling(("send", {"to": "a"}), ("burn", {"what": "x"}), ("send", {"to": "b"}))
    result = await run(desk.agent_with([review], reply), GO)

    assert person.shown == [
        ("send", "Send a letter.", {"to": "a"}),
        ("send", "Send a letter.", {"to": "b"}),
    ]
    assert sorted(desk.did) == ["burn x", "send a x1"]
    assert texts(result)["c3"] == (
        "Tool execution for 'send' was rejected by the user. With user feedback: not b"
    )


async def test_changed_arguments_run_and_the_model_is_told(
    desk: Any, run: Run, calling: Calling, texts: Texts
) -> None:
    person = Person(ConfirmationUIResult("modify", "b, please", {"to": "b"}))
    review = ApprovalMiddleware(
        {"send": person.strategy(modify_template="Now: {final_tool_params}")}
    )
    result = await run(desk.agent_with([review], calling(("send", {"to": "a"}))), GO)

    assert desk.did == ["send b x1"]
    assert texts(result)["c1"].startswith("Now: {'to': 'b'} With user feedback: b, please")


async def test_same_arguments_again_count_as_a_confirmation(
    desk: Any, run: Run, calling: Calling, texts: Texts
) -> None:
    person = Person(ConfirmationUIResult("modify", None, {"to": "a"}))
    review = ApprovalMiddleware({"send": person.strategy()})
    result = await run(desk.agent_with([review], calling(("send", {"to": "a"}))), GO)
    assert texts(result)["c1"] == "sent to a"


async def test_person_answers_in_the_place_of_the_tool(
    desk: Any, run: Run, calling: Calling, texts: Texts
) -> None:
    review = ApprovalMiddleware(
        {"send": Person(ConfirmationUIResult("respond", "done")).strategy()}
    )
    result = await run(desk.agent_with([review], calling(("send", {"to": "a"}))), GO)
    assert (texts(result), desk.did) == ({"c1": "done"}, [])


async def test_arguments_that_do_not_fit_are_asked_again_with_the_reason(
    desk: Any, run: Run, calling: Calling
) -> None:
    person = Person(
        ConfirmationUIResult("modify", None, {"copies": 2}),
        ConfirmationUIResult("modify", None, {"to": "b"}),
    )
    review = ApprovalMiddleware({"send": person.strategy()})
    await run(desk.agent_with([review], calling(("send", {"to": "a"}))), GO)

    assert "edited_action.args.to: Field required" in person.shown[1][1]
    assert desk.did == ["send b x1"]


async def test_person_who_never_gets_it_right_ends_the_run(
    desk: Any, run: Run, calling: Calling
) -> None:
    wrong = ConfirmationUIResult("modify", None, {"copies": 2})
    review = ApprovalMiddleware({"send": Person(wrong, wrong, wrong).strategy()})
    with pytest.raises(InvalidDecisionError, match=r"'c1'.*'send'"):
        await run(desk.agent_with([review], calling(("send", {"to": "a"}))), GO)
    assert desk.did == []


async def test_confirmed_once_is_not_asked_again_in_the_thread(
    desk: Any, run: Run, calling: Calling
) -> None:
    person = Person(CONFIRM, CONFIRM)
    review = ApprovalMiddleware({"send": person.strategy(confirmation_policy=AskOncePolicy())})
    calls = [("send", {"to": to}) for to in "aba"]
    replies = [calling(c, start=n) for n, c in enumerate(calls, 1)]
    await run(desk.agent_with([review], *replies, checkpointer=InMemorySaver()), GO, THREAD)

    assert [params for _, _, params in person.shown] == [{"to": "a"}, {"to": "b"}]
    assert desk.did == ["send a x1", "send b x1", "send a x1"]


async def test_strategy_without_a_user_interface_pauses_the_run(
    desk: Any, run: Run, calling: Calling, texts: Texts
) -> None:
    review = ApprovalMiddleware({("send", "burn"): HumanInTheLoopStrategy()})
    reply = calling(("send", {"to": "a"}), ("burn", {"what": "x"}))
    agent = desk.agent_with([review], reply, checkpointer=InMemorySaver())
    (pause,) = (await run(agent, GO, THREAD))["__interrupt__"]
    assert len(pause.value["action_requests"]) == 2

    answer = {"decisions": {"c1": {"type": "approve"}, "c2": {"type": "reject"}}}
    result = await run(agent, Command(resume=answer), THREAD)
    assert desk.did == ["send a x1"]
    assert texts(result)["c2"] == "Tool execution for 'burn' was rejected by the user."


async def test_pause_comes_before_the_questions_that_are_asked_here_and_now(
    desk: Any, run: Run, calling: Calling
) -> None:
    person = Person(CONFIRM)
    review = ApprovalMiddleware({"send": person.strategy(), "burn": HumanInTheLoopStrategy()})
    reply = calling(("send", {"to": "a"}), ("burn", {"what": "x"}))
    agent = desk.agent_with([review], reply, checkpointer=InMemorySaver())
    await run(agent, GO, THREAD)
    assert person.shown == []

    await run(agent, Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    assert (len(person.shown), sorted(desk.did)) == (1, ["burn x", "send a x1"])


class Custom:
    """A strategy of somebody else's."""

    def __init__(self, decision: Any) -> None:
        self.decision = decision
        self.context: Any = None

    def run(self, *, confirmation_strategy_context: Any = None, **_: Any) -> Any:
        self.context = confirmation_strategy_context
        return self.decision


async def test_custom_strategy_is_given_the_context_of_the_run_itself(
    desk: Any, run: Run, calling: Calling
) -> None:
    strategy, context = Custom(ToolExecutionDecision("send", execute=True)), object()
    agent = desk.agent_with(
        [ApprovalMiddleware({"send": strategy})], calling(("send", {"to": "a"}))
    )
    await run(agent, GO, context=context)
    assert strategy.context is context
    assert desk.did == ["send a x1"]


@pytest.mark.parametrize(
    "decision",
    [
        None,
        True,
        ToolExecutionDecision("burn", execute=True),
        ToolExecutionDecision("send", execute=True, tool_call_id="c9"),
        ToolExecutionDecision("send", execute=cast("Any", "yes")),
    ],
    ids=str,
)
async def test_decision_about_something_else_runs_nothing(
    desk: Any, run: Run, calling: Calling, decision: Any
) -> None:
    review = ApprovalMiddleware({"send": Custom(decision)})
    with pytest.raises(InvalidDecisionError, match="'send'"):
        await run(desk.agent_with([review], calling(("send", {"to": "a"}))), GO)
    assert desk.did == []


def test_strategy_asks_by_itself_too() -> None:
    person = Person(ConfirmationUIResult("reject"))
    decision = person.strategy().run(tool_name="send", tool_description="", tool_params={})
    assert (decision.execute, decision.tool_name) == (False, "send")

    never = person.strategy(confirmation_policy=NeverAskPolicy())
    assert never.run(tool_name="send", tool_description="", tool_params={}).execute


async def test_policy_that_learns_is_told_what_came_of_its_question(
    desk: Any, run: Run, calling: Calling
) -> None:
    told: list[str] = []

    class Learning(AlwaysAskPolicy):
        def update_after_confirmation(self, name: str, _text: str, _args: Any, result: Any) -> None:
            told.append(f"{name} {result.action}")

    person = Person(CONFIRM, ConfirmationUIResult("reject"))
    review = ApprovalMiddleware({"send": person.strategy(confirmation_policy=Learning())})
    reply = calling(("send", {"to": "a"}), ("send", {"to": "b"}))
    await run(desk.agent_with([review], reply), GO)
    assert told == ["send confirm", "send reject"]


def test_without_a_user_interface_it_cannot_ask_by_itself() -> None:
    with pytest.raises(ConfigurationError, match="user interface"):
        HumanInTheLoopStrategy().run(tool_name="send", tool_description="", tool_params={})


def test_both_names_are_one_class() -> None:
    assert BlockingConfirmationStrategy is HumanInTheLoopStrategy
