"""An agent as an SVG image that needs nothing from elsewhere."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.graph.drawing import draw_svg

SVG = "{http://www.w3.org/2000/svg}"


def elements(text: str) -> list[ET.Element]:
    return list(ET.fromstring(text).iter())  # noqa: S314 - our own text


def words(text: str) -> list[str]:
    return [element.text or "" for element in elements(text) if element.tag == f"{SVG}text"]


def test_the_three_nodes_are_drawn(agent: Any) -> None:
    shown = words(draw_svg(agent()))

    assert [word for word in shown if word in {"model", "tools", "end"}] == [
        "model",
        "tools",
        "end",
    ]
    assert {"tool calls", "results", "answer", "go on"} <= set(shown)


def test_every_hook_is_drawn_in_the_order_in_which_it_runs(agent: Any) -> None:
    shown = words(draw_svg(agent(), hooks=True))
    points = [word for word in shown if word.startswith(("before_", "after_", "wrap_", "on_"))]

    assert points == [
        *("before_agent", "before_model", "before_model"),
        *("wrap_model_call", "wrap_model_call", "after_model"),
        *("before_tools", "wrap_tool_call", "after_tools"),
        *("on_exit", "after_agent", "after_agent"),
        *("on_error", "on_error"),
    ]


def test_names_of_usual_length_are_shown_whole(agent: Any, guard: Any) -> None:
    names = ["ModelFallbackMiddleware", "ToolRetryMiddleware", "SummarizationMiddleware", "m"]
    points = ["before_model", "wrap_model_call", "wrap_tool_call"]
    shown = words(draw_svg(agent(*(guard(name, *points) for name in names)), hooks=True))

    assert {name: shown.count(name) for name in names} == dict.fromkeys(names, len(points))


def test_nothing_comes_from_elsewhere_and_nothing_runs(agent: Any) -> None:
    text = draw_svg(agent(), hooks=True)

    assert {element.tag.removeprefix(SVG) for element in elements(text)} == {
        *("svg", "title", "defs", "marker", "path", "rect", "polyline", "text", "circle"),
    }
    assert [a for e in elements(text) for a in e.attrib if "href" in a or a.startswith("on")] == []
    assert text.count("http") == 1  # the name of SVG itself
    assert text.count("url(") == text.count("url(#head)")


def test_it_is_named_for_those_who_cannot_see_it(agent: Any) -> None:
    root = ET.fromstring(draw_svg(agent(name="shop")))  # noqa: S314 - our own text

    assert root.attrib["role"] == "img"
    assert root.findtext(f"{SVG}title") == "The graph of shop"


@given(name=st.text(min_size=1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_name_is_only_text(agent: Any, guard: Any, name: str) -> None:
    text = draw_svg(agent(guard(name, "before_model", "wrap_model_call"), name=name), hooks=True)

    assert len(words(text)) == len(
        words(draw_svg(agent(guard("x", "before_model", "wrap_model_call")), hooks=True))
    )
    text.encode("utf-8")
