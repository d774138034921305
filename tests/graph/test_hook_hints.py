"""A hook that takes its dict for the live state is told so."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.graph import create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware


class Sets(AgentMiddleware):
    def before_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
        state.set("messages", [])


class Errs(AgentMiddleware):
    """Fails on something else."""

    def __init__(self, name: str, value: Any) -> None:
        self._attribute, self._value = name, value

    def before_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
        getattr(state if self._value is None else self._value, self._attribute)


async def notes_of(run: Any, middleware: Any) -> list[str]:
    agent = create_agent(ScriptedChatModel(["x"]), middleware=[middleware])
    with pytest.raises(AttributeError) as caught:
        await run(agent, {"messages": "go"})
    return [note for note in getattr(caught.value, "__notes__", []) if "State" in note]


async def test_a_method_of_the_live_state_on_a_dict_says_how_to_get_it(run: Any) -> None:
    (note,) = await notes_of(run, Sets())
    assert note == (
        "Sets.before_model was given the state as a dict; annotate its parameter as State, or use "
        "@hook, to have 'set'."
    )


@pytest.mark.parametrize(("name", "value"), [("nothing", None), ("set", object()), ("set", {})])
async def test_any_other_missing_attribute_gets_no_hint(run: Any, name: str, value: Any) -> None:
    assert await notes_of(run, Errs(name, value)) == []
