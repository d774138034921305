from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.graph import create_agent
from interlock.graph.models.scripted import ScriptedChatModel
from interlock.middleware import FirewallError, ToolFirewallMiddleware
from interlock.state import ConfigurationError

Run = Callable[..., Awaitable[dict[str, Any]]]
THREAD: Any = {"configurable": {"thread_id": "t"}}
RULES = {"pay": {"amount": {"max": 100}, "to": ["rent"]}, "now": "any"}


class Bank:
    """A tool that keeps what it paid."""

    def __init__(self) -> None:
        self.paid: list[float] = []

        @tool
        def pay(amount: float, to: str) -> str:
            """Pay."""
            self.paid.append(amount)
            return f"paid {to}"

        self.pay = pay

    def agent(self, firewall: Any, *amounts: float, **options: Any) -> Any:
        calls = [
            {"name": "pay", "args": {"amount": a, "to": "rent"}, "id": f"c{n}"}
            for n, a in enumerate(amounts)
        ]
        model = ScriptedChatModel([AIMessage("", tool_calls=calls), "done"])
        return create_agent(model, [self.pay], middleware=[firewall], **options)


async def test_only_allowed_calls_are_run(run: Run) -> None:
    bank = Bank()

    result = await run(bank.agent(ToolFirewallMiddleware(RULES), 50, 500), {"messages": "pay"})

    assert bank.paid == [50]
    assert "argument 'amount': it must be a number of at most 100" in result["messages"][3].text
    assert "500" not in result["messages"][3].text
    assert result["messages"][3].status == "error"


async def test_violation_can_end_the_run(run: Run) -> None:
    bank = Bank()
    firewall = ToolFirewallMiddleware(RULES, on_violation="error")

    with pytest.raises(FirewallError, match="'pay' is not allowed: argument 'amount'"):
        await run(bank.agent(firewall, 500), {"messages": "pay"})
    assert bank.paid == []


@pytest.mark.parametrize(("answer", "paid"), [("allow", [500]), ("no", []), (True, []), ({}, [])])
async def test_person_can_allow_a_violation(run: Run, answer: Any, paid: list[float]) -> None:
    bank = Bank()
    firewall = ToolFirewallMiddleware(RULES, on_violation="ask")
    agent = bank.agent(firewall, 500, checkpointer=InMemorySaver())

    paused = await run(agent, {"messages": "pay"}, THREAD)
    assert paused["__interrupt__"][0].value["fault"].startswith("argument 'amount'")
    assert bank.paid == []
    await run(agent, Command(resume=answer), THREAD)

    assert bank.paid == paid


@pytest.mark.parametrize(
    ("tool_name", "args", "fault"),
    [
        ("now", {"anything": 1}, None),
        ("pay", {"amount": 1, "to": "rent"}, None),
        ("pay", {"amount": 1, "to": "x"}, "argument 'to': it must be one of 'rent'"),
        (
            "pay",
            {"amount": 1, "note": "x"},
            "argument 'note' is not on the list of allowed arguments",
        ),
        ("shell", {}, "the tool is not on the list of allowed tools"),
    ],
)
def test_what_is_not_named_is_refused(tool_name: str, args: Any, fault: str | None) -> None:
    assert ToolFirewallMiddleware(RULES).fault(tool_name, args) == fault


def test_parts_of_an_object_have_rules_of_their_own() -> None:
    firewall = ToolFirewallMiddleware({"order": {"item.price": {"max": 5}, "item.name": "any"}})

    assert firewall.fault("order", {"item": {"price": 5, "name": "pen"}}) is None
    assert firewall.fault("order", {"item": {"price": 6}}) == (
        "argument 'item.price': it must be a number of at most 5"
    )
    assert firewall.fault("order", {"item": {"colour": 6}}) is not None
    assert firewall.fault("order", {"item": "pen"}) is not None


@pytest.mark.parametrize("whole", ["any", {"type": "object"}, {"max_length": 2}])
def test_rules_for_an_object_and_for_its_parts_both_hold(whole: Any) -> None:
    firewall = ToolFirewallMiddleware({"pay": {"order": whole, "order.total": {"max": 100}}})

    assert firewall.fault("pay", {"order": {"total": 100, "note": "x"}}) is None
    assert firewall.fault("pay", {"order": {"total": 900}}) == (
        "argument 'order.total': it must be a number of at most 100"
    )


def test_rule_for_an_object_holds_although_its_parts_have_some() -> None:
    firewall = ToolFirewallMiddleware(
        {"pay": {"order": {"max_length": 1}, "order.total": {"max": 100}}}
    )

    assert firewall.fault("pay", {"order": {"total": 1, "note": "x"}}) == (
        "argument 'order': it may have at most 1 characters or items"
    )


@pytest.mark.parametrize("order", [[{"total": 9}], '{"total": 9}', 9, None, "x"])
@pytest.mark.parametrize("others", [{}, {"*": "any"}, {"order": "any"}])
def test_value_whose_parts_have_rules_must_be_an_object(order: Any, others: Any) -> None:
    firewall = ToolFirewallMiddleware({"pay": {"order.total": {"max": 100}, **others}})

    assert firewall.fault("pay", {"order": order}) == (
        "argument 'order': it must be an object, its parts have rules"
    )


async def test_rule_for_a_part_holds_in_a_run(run: Run) -> None:
    paid: list[Any] = []

    @tool
    def pay(order: dict[str, float]) -> str:
        """Pay."""
        paid.append(order["total"])
        return "paid"

    calls = [
        {"name": "pay", "args": {"order": {"total": total}}, "id": f"c{total}"}
        for total in (50, 900)
    ]
    model = ScriptedChatModel([AIMessage("", tool_calls=calls), "done"])
    firewall = ToolFirewallMiddleware(
        {"pay": {"order": {"type": "object"}, "order.total": {"max": 100}}}
    )
    await run(create_agent(model, [pay], middleware=[firewall]), {"messages": "pay"})

    assert paid == [50]


def test_star_stands_for_parts_that_are_not_named() -> None:
    firewall = ToolFirewallMiddleware({"pay": {"order.total": "any", "order.*": {"max": 5}}})

    assert firewall.fault("pay", {"order": {"total": 900, "tip": 5}}) is None
    assert firewall.fault("pay", {"order": {"tip": 6}}) is not None
    assert firewall.fault("pay", {"other": 1}) is not None


def test_star_stands_for_what_is_not_named() -> None:
    firewall = ToolFirewallMiddleware({"a": {"x": {"max": 1}, "*": "any"}, "*": {"y": ["z"]}})

    assert firewall.fault("a", {"x": 1, "other": 2}) is None
    assert firewall.fault("a", {"x": 2}) is not None
    assert firewall.fault("b", {"y": "z"}) is None
    assert firewall.fault("b", {"y": "q"}) is not None


@pytest.mark.parametrize(
    "settings",
    [
        {"rules": ["pay"]},
        {"rules": {"pay": 5}},
        {"rules": {"pay": {"amount": {"most": 5}}}},
        {"rules": {"pay": {"order.*.price": {"max": 5}}}},
        {"rules": {}, "on_violation": "ignore"},
    ],
)
def test_wrong_setting_is_refused(settings: Any) -> None:
    with pytest.raises(ConfigurationError):
        ToolFirewallMiddleware(**settings)
