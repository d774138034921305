from __future__ import annotations

import threading
from typing import Any

import pytest
from langchain.agents.middleware import ToolErrorMiddleware

from interlock.middleware import AgentMiddleware, hook_config
from interlock.middleware.collect import collect_hooks, unique_names
from interlock.state import ConfigurationError
from interlock.tools.calls import AWAITING


class Both(AgentMiddleware):
    def before_model(self, state: Any, runtime: Any) -> None:
        """Do nothing."""

    async def abefore_model(self, state: Any, runtime: Any) -> None:
        """Do nothing."""

    async def after_model(self, state: Any, runtime: Any) -> None:
        """Do nothing."""


def test_a_hook_is_found_in_the_forms_it_has() -> None:
    plan = collect_hooks([Both()])
    (before,) = plan.hooks["before_model"]
    (after,) = plan.hooks["after_model"]
    assert before.function.sync
    assert before.function.asynchronous
    assert after.function.sync is None
    assert after.function.asynchronous
    assert not plan.has("before_agent", "on_error")


def test_hooks_of_the_base_class_are_none() -> None:
    plan = collect_hooks([AgentMiddleware()])
    assert not any(plan.hooks.values())
    assert not any(plan.wraps.values())


def test_a_setting_of_langchain_middleware_is_no_hook() -> None:
    theirs = ToolErrorMiddleware(lambda _error, _request: "x")
    plan = collect_hooks([theirs])
    assert not plan.hooks["on_error"]
    assert plan.wraps["wrap_tool_call"]


def test_a_hook_set_on_an_instance_counts() -> None:
    middleware = AgentMiddleware()

    def hook(state: Any, runtime: Any) -> None:
        """Do nothing."""

    vars(middleware)["before_model"] = hook
    assert collect_hooks([middleware]).hooks["before_model"]


def test_after_hooks_run_in_reverse() -> None:
    class Named(Both):
        def __init__(self, name: str) -> None:
            self._name = name

        @property
        def name(self) -> str:
            return self._name

    plan = collect_hooks([Named("a"), Named("b")])
    assert [h.owner for h in plan.hooks["before_model"]] == ["a.before_model", "b.before_model"]
    assert [h.owner for h in plan.hooks["after_model"]] == ["b.after_model", "a.after_model"]


def test_instances_of_one_name_are_numbered() -> None:
    assert unique_names(["a", "b", "a", "a"]) == ["a", "b", "a#2", "a#3"]


@pytest.mark.parametrize(
    ("declared", "pauses"), [(True, True), (["before_model"], True), ([], False)]
)
def test_a_middleware_says_which_hooks_pause(declared: Any, pauses: bool) -> None:
    kind = type("Pausing", (Both,), {"interrupts": declared})
    (hook,) = collect_hooks([kind()]).hooks["before_model"]
    assert hook.interrupts is pauses


def test_a_hook_may_say_for_itself_that_it_pauses() -> None:
    class One(AgentMiddleware):
        @hook_config(interrupts=True, can_jump_to=["end"])
        def before_model(self, state: Any, runtime: Any) -> None:
            """Do nothing."""

    (hook,) = collect_hooks([One()]).hooks["before_model"]
    assert hook.interrupts
    assert hook.can_jump_to == ("end",)


def test_a_class_instead_of_an_instance_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'Both'"):
        collect_hooks([Both])


def test_a_hook_that_asks_for_more_than_there_is_is_refused() -> None:
    class Greedy(AgentMiddleware):
        def before_model(self, state: Any, runtime: Any, more: Any) -> None:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
            """Do nothing."""

    with pytest.raises(ConfigurationError, match="more"):
        collect_hooks([Greedy()])


async def test_a_hook_gets_the_config_by_name(run: Any, scripted: Any) -> None:
    from interlock.graph import create_agent  # noqa: PLC0415

    seen: list[Any] = []

    class Look(AgentMiddleware):
        def before_model(self, state: Any, *, config: Any) -> None:  # type: ignore[override]  # noqa: ARG002  # pyright: ignore[reportIncompatibleMethodOverride]
            seen.append(config["configurable"]["user"])

    agent = create_agent(scripted("x"), [], middleware=[Look()])
    await run(agent, {"messages": "go"}, {"configurable": {"user": "kim"}})
    assert seen == ["kim"]


@pytest.mark.parametrize("quick", [True, False])
async def test_a_quick_hook_is_called_on_the_event_loop_itself(quick: bool) -> None:
    class Where(AgentMiddleware[Any, Any, Any]):
        @hook_config(quick=quick)
        def before_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
            self.thread = threading.current_thread()

    where = Where()
    (hook,) = collect_hooks([where]).hooks["before_model"]
    await AWAITING.call(hook.function, {}, None, None)
    assert (where.thread is threading.current_thread()) is quick
