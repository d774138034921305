"""Whatever an agent holds, its picture can be read: nothing lies on anything else."""

from __future__ import annotations

from itertools import combinations

from hypothesis import example, given
from hypothesis import strategies as st

from interlock.graph.drawing.column import DETAIL_SIZE
from interlock.graph.drawing.layout import MARGIN, lay_out
from interlock.graph.drawing.lettering import width_of
from interlock.graph.drawing.picture import BEGIN, FINISH, Node, Picture, Step, Way
from interlock.graph.drawing.scene import Arrow, Box, Point, Scene

NAMES = st.text("abcMW日 ", min_size=1, max_size=60)
HOOKS = st.lists(st.builds(Step, NAMES, NAMES), max_size=3).map(tuple)
WORK = st.builds(
    Step,
    st.just("ask"),
    NAMES,
    st.lists(st.builds(Step, NAMES, st.just("wrap_model_call")), max_size=3).map(tuple),
    st.just(value=False),
)


@st.composite
def pictures(draw: st.DrawFn) -> Picture:
    """Any picture that an agent may have, with every way that its nodes allow."""
    has_tools, has_end, plain = (draw(st.booleans()) for _ in range(3))
    once, before, behind = draw(HOOKS), draw(HOOKS), draw(HOOKS)
    nodes = [Node("model", (*once, *before, draw(WORK), *behind), len(once))]
    if has_tools:
        nodes.append(Node("tools", (*draw(HOOKS), draw(WORK), *draw(HOOKS))))
    if has_end:
        nodes.append(Node("end", (draw(st.builds(Step, NAMES, NAMES)), *draw(HOOKS))))
    if plain:
        nodes = [Node(node.name) for node in nodes]
    last = "end" if has_end else FINISH
    ways = [Way(BEGIN, "model"), Way("model", "model", "again"), Way("model", last, "answer")]
    if has_tools:
        ways += [Way("model", "tools", "tool calls"), Way("tools", "model", "results")]
        ways += [Way("tools", last, "done")]
    if has_end:
        ways += [Way("end", "model", "go on"), Way("end", FINISH)]
    return Picture("agent", tuple(nodes), tuple(ways), () if plain else draw(HOOKS))


WIDE_END = Picture(
    "agent",
    (Node("model", (Step("ask", is_hook=False),)), Node("end", (Step("W" * 60),))),
    (Way("model", "model", "again"), Way("model", "end", "answer"), Way("end", "model", "go on")),
)


def overlap(one: Box, other: Box) -> bool:
    across = one.x < other.right and other.x < one.right
    return across and one.y < other.bottom and other.y < one.bottom


def holds(outer: Box, inner: Box) -> bool:
    beside = outer.x < inner.x and inner.right < outer.right
    return beside and outer.y < inner.y and inner.bottom < outer.bottom


def label_of(arrow: Arrow) -> Box:
    width, (x, y) = width_of(arrow.label, DETAIL_SIZE), arrow.label_at
    return Box(x - width / 2, y - 6, width, 12, "node", arrow.label)


def is_in(frame: Box, point: Point) -> bool:
    x, y = point
    return frame.x <= x <= frame.right and frame.y <= y <= frame.bottom


def frames(scene: Scene) -> list[Box]:
    return [box for box in scene.boxes if box.style in {"node", "group"}]


@given(pictures())
def test_boxes_are_apart_or_inside_one_another(picture: Picture) -> None:
    for one, other in combinations(lay_out(picture).boxes, 2):
        assert not overlap(one, other) or holds(one, other)


@given(pictures())
def test_labels_lie_on_no_node_and_on_no_label(picture: Picture) -> None:
    scene = lay_out(picture)
    labels = [label_of(arrow) for arrow in scene.arrows if arrow.label]

    assert not any(overlap(*pair) for pair in combinations([*labels, *frames(scene)], 2))


@given(pictures())
def test_everything_is_on_the_page(picture: Picture) -> None:
    scene = lay_out(picture)
    edge = MARGIN - 1
    page = Box(edge, edge, scene.width - 2 * edge, scene.height - 2 * edge, "group", "")
    labels = [label_of(arrow) for arrow in scene.arrows if arrow.label]

    assert all(holds(page, box) for box in [*scene.boxes, *labels])
    assert all(
        edge <= x <= page.right and edge <= y <= page.bottom
        for arrow in scene.arrows
        for x, y in arrow.points
    )


@given(pictures())
@example(WIDE_END)
def test_lines_are_level_or_upright_and_cross_only_where_they_begin_and_end(
    picture: Picture,
) -> None:
    scene = lay_out(picture)
    for arrow in scene.arrows:
        for start, stop in zip(arrow.points, arrow.points[1:], strict=False):
            (x0, y0), (x1, y1) = start, stop
            assert abs(x0 - x1) < 0.01 or abs(y0 - y1) < 0.01
            ends = {start, stop} & {arrow.points[0], arrow.points[-1]}
            line = Box(min(x0, x1), min(y0, y1), abs(x0 - x1) + 1, abs(y0 - y1) + 1, "node", "")
            foreign = [frame for frame in frames(scene) if not any(is_in(frame, p) for p in ends)]
            assert not any(overlap(frame, line) for frame in foreign)


@given(pictures())
def test_every_way_and_every_step_is_drawn(picture: Picture) -> None:
    scene = lay_out(picture)
    steps = [step for node in picture.nodes for step in node.steps]

    assert [a.label for a in scene.arrows if a.label] == [w.label for w in picture.ways if w.label]
    drawn = [box.title for box in scene.boxes if box.style in {"hook", "work"}]
    assert drawn == [step.title for step in (*steps, *picture.on_error)]
