"""An agent as Mermaid text."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.graph import create_agent
from interlock.graph.drawing import draw
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import AgentMiddleware


def lines(agent: Any, *, hooks: bool = False) -> list[str]:
    return [line.strip() for line in draw(agent, hooks=hooks).splitlines()]


def test_the_nodes_and_the_ways_between_them(agent: Any, guard: Any) -> None:
    drawn = lines(agent(guard("audit", "after_agent")))

    assert [line for line in drawn if line.endswith(":::whole")] == [
        'model_node["model"]:::whole',
        'tools_node["tools"]:::whole',
        'end_node["end"]:::whole',
    ]
    assert [line for line in drawn if "-->" in line] == [
        "begin --> model_node",
        "model_node -->|tool calls| tools_node",
        "model_node -->|answer| end_node",
        "tools_node -->|results| model_node",
        "end_node -->|go on| model_node",
        "end_node --> finish",
    ]


def test_hooks_are_steps_and_layers_are_frames(agent: Any) -> None:
    drawn = lines(agent(), hooks=True)
    begin = drawn.index('subgraph model_group["model"]')

    assert drawn[begin + 1 : begin + 10] == [
        'model_0["one<br/>before_agent"]:::hook',
        'model_1["two<br/>before_model"]:::hook',
        'model_2["four<br/>before_model"]:::hook',
        'subgraph model_3_layer0["one (wrap_model_call)"]',
        'subgraph model_3_layer1["two (wrap_model_call)"]',
        'model_3["ask the model<br/>ScriptedChatModel"]:::work',
        "end",
        "end",
        "class model_3_layer0 layer",
    ]
    assert "model_0 --> model_1 --> model_2 --> model_3 --> model_4" in drawn


def test_only_styles_that_are_used_are_defined(agent: Any) -> None:
    plain = [line.split()[1] for line in lines(agent()) if line.startswith("classDef")]
    full = [line.split()[1] for line in lines(agent(), hooks=True) if line.startswith("classDef")]

    assert (plain, full) == (["whole"], ["group", "layer", "hook", "work"])


def test_frames_are_closed(agent: Any) -> None:
    drawn = lines(agent(), hooks=True)

    assert drawn.count("end") == len([line for line in drawn if line.startswith("subgraph")])


def test_a_run_comes_back_behind_what_runs_once(agent: Any) -> None:
    drawn = lines(agent(), hooks=True)

    assert "begin --> model_0" in drawn
    assert "tools_2 -->|results| model_1" in drawn
    assert "end_0 -->|go on| model_1" in drawn


@given(name=st.text(min_size=1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_no_name_is_read_as_more_than_text(agent: Any, guard: Any, name: str) -> None:
    drawn = draw(agent(guard(name, "before_model", "wrap_model_call")), hooks=True)

    shown = [line for line in drawn.split("\n") if "before_model" in line or "wrap_model" in line]
    assert len(shown) == 2
    for line in shown:
        assert re.fullmatch(r'\s*(subgraph )?\w+\["[^"`<>;#\\]*"\](:::hook)?', _plain(line))


def _plain(line: str) -> str:
    """The line without the line break between title and detail, and without escapes."""
    return re.sub(r"#\d+;", "", line.replace("<br/>", ""))


class Filtered(AgentMiddleware[Any, Any, Any]):
    def filter_input(self, messages: Any) -> Any:
        return messages


def test_an_input_that_is_filtered_changes_no_way() -> None:
    plain = create_agent(ScriptedChatModel(["hi"]), [])
    filtered = create_agent(ScriptedChatModel(["hi"]), [], middleware=[Filtered()])

    assert lines(filtered) == lines(plain)
