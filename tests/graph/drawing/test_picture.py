"""What is drawn is what runs: the nodes, the hooks in their order, the ways."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import START, StateGraph

from interlock.graph import create_agent, draw, draw_svg
from interlock.graph.drawing.picture import Way, picture_of
from interlock.graph.models.scripted import ScriptedChatModel
from interlock.graph.plan import AgentPlan
from interlock.middleware.collect import HookPoint
from interlock.state import AgentState


def idle(state: AgentState) -> AgentState:
    return state


def titles(agent: Any, node: str) -> list[str]:
    [found] = [n for n in picture_of(agent, hooks=True).nodes if n.name == node]
    return [step.title for step in found.steps]


def test_an_agent_without_tools_and_hooks_is_one_node() -> None:
    picture = picture_of(create_agent(ScriptedChatModel(["done"])), hooks=False)

    assert [node.name for node in picture.nodes] == ["model"]
    assert picture.ways == (Way("begin", "model"), Way("model", "finish", "answer"))


def test_nodes_and_ways_are_those_of_the_graph(agent: Any) -> None:
    built = agent()
    picture = picture_of(built, hooks=False)
    names = {"__start__": "begin", "__end__": "finish"}

    assert {node.name for node in picture.nodes} == set(built.nodes) - {"__start__"}
    assert {(way.source, way.target) for way in picture.ways} == {
        (names.get(e.source, e.source), names.get(e.target, e.target))
        for e in built.get_graph().edges
    }


def test_steps_stand_in_the_order_in_which_they_run(agent: Any) -> None:
    built = agent()

    assert titles(built, "model") == ["one", "two", "four", "ask the model", "two"]
    assert titles(built, "tools") == ["three", "run the tools", "three"]
    assert titles(built, "end") == ["four", "four", "one"]


def test_the_order_drawn_is_the_order_of_the_plan(agent: Any) -> None:
    built = agent()
    plan: AgentPlan = built.nodes["model"].bound.plan
    points: list[HookPoint] = ["before_agent", "before_model", "after_model"]
    planned = [hook.owner for point in points for hook in plan.hooks.hooks[point]]
    [model] = [node for node in picture_of(built, hooks=True).nodes if node.name == "model"]

    assert [f"{s.title}.{s.detail}" for s in model.steps if s.is_hook] == planned


def test_layers_stand_around_the_model_the_first_one_outermost(agent: Any) -> None:
    [model] = [node for node in picture_of(agent(), hooks=True).nodes if node.name == "model"]
    [work] = [step for step in model.steps if not step.is_hook]

    assert [layer.title for layer in work.layers] == ["one", "two"]
    assert {layer.detail for layer in work.layers} == {"wrap_model_call"}


def test_a_run_comes_back_behind_the_hooks_that_run_once(agent: Any) -> None:
    [model] = [node for node in picture_of(agent(), hooks=True).nodes if node.name == "model"]

    assert model.steps[model.entry].title == "two"


def test_a_hook_says_where_it_may_jump_and_that_it_may_pause(agent: Any, guard: Any) -> None:
    watchful = guard("w", "before_model", can_jump_to=["end", "tools"], interrupts=True)
    model = picture_of(agent(watchful), hooks=True).nodes[0]

    assert model.steps[0].detail == "before_model, may jump to end or tools, may pause"


def test_hooks_of_failures_stand_aside_in_their_order(agent: Any) -> None:
    assert [step.title for step in picture_of(agent(), hooks=True).on_error] == ["two", "one"]


def test_an_agent_draws_itself(agent: Any) -> None:
    built = agent()

    assert built.draw(hooks=True) == draw(built, hooks=True)
    assert built.draw_svg() == draw_svg(built)


def test_a_notebook_shows_the_picture_without_asking_a_server(agent: Any) -> None:
    built = agent()

    assert built._repr_mimebundle_() == {
        "text/plain": repr(built),
        "image/svg+xml": draw_svg(built),
    }


def test_a_graph_with_settings_of_its_own_is_still_an_agent(agent: Any) -> None:
    built = agent()

    assert draw(built.with_config({"tags": ["x"]})) == draw(built)


@pytest.mark.parametrize("thing", [None, "agent", StateGraph(AgentState)])
def test_what_is_no_agent_is_refused(thing: Any) -> None:
    with pytest.raises(TypeError, match="give what create_agent returned"):
        draw(thing)


def test_another_graph_is_refused() -> None:
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(AgentState)
    graph.add_node("model", idle)
    graph.add_edge(START, "model")

    with pytest.raises(TypeError, match="is no agent"):
        draw(graph.compile())
