"""Each notebook answers one question, and shows what it says it shows."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any, cast

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
ALLOWED = ("interlock.", "langchain_core.messages", "langgraph.checkpoint.", "langgraph.graph")
PROMISE = "# → "

notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path: Path, kind: str) -> list[str]:
    found = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


def promised(source: str) -> str | None:
    """What a cell says that its last line gives."""
    last = source.splitlines()[-1]
    return last.partition(PROMISE)[2] if PROMISE in last else None


def shown(cell: Any) -> str | None:
    """What its last line gave."""
    values = [o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result"]
    return values[-1] if values else None


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """``run(path)``: the cells of a notebook after a run from top to bottom; each runs once."""
    home = tmp_path_factory.mktemp("jupyter")
    done: dict[Path, list[Any]] = {}

    def execute(path: Path) -> list[Any]:
        if path not in done:
            with pytest.MonkeyPatch.context() as patch:
                for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
                    patch.setenv(name, str(home))
                # The embedded model takes a second for a text, and much longer beside other tests.
                patch.setenv("INTERLOCK_NOTEBOOK_LIMIT", "3")
                book = cast("Any", nbformat.read(path, as_version=4))  # type: ignore[no-untyped-call]
                context = {"metadata": {"path": str(FOLDER)}}
                NotebookClient(book, timeout=600, resources=context).execute()
                done[path] = [cell for cell in book.cells if cell.cell_type == "code"]
        return done[path]

    return execute


@pytest.mark.slow
@notebook
def test_every_line_gives_what_it_says(run: Any, path: Path) -> None:
    found = {promised(cell.source): shown(cell) for cell in run(path) if promised(cell.source)}

    assert len(found) >= 3
    assert list(found) == list(found.values())


@pytest.mark.slow
@notebook
def test_nothing_is_written_to_the_error_stream(run: Any, path: Path) -> None:
    outputs = [output for cell in run(path) for output in cell.outputs]

    assert [o.text for o in outputs if o.output_type == "stream" and o.name == "stderr"] == []


@pytest.mark.slow
def test_an_agent_is_shown_as_a_picture(run: Any) -> None:
    outputs = [output for cell in run(NOTEBOOKS[0]) for output in cell.outputs]

    assert [o for o in outputs if "image/svg+xml" in o.get("data", {})]


@notebook
def test_the_first_cell_asks_one_question(path: Path) -> None:
    title = cells(path, "markdown")[0].splitlines()[0]

    assert title.startswith("# ")
    assert title.endswith("?")


@notebook
def test_only_the_library_is_imported(path: Path) -> None:
    trees = [ast.parse(source) for source in cells(path, "code")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]

    foreign = [n for n in names if n.split(".")[0] not in sys.stdlib_module_names]
    assert [n for n in foreign if not n.startswith(ALLOWED)] == []


@pytest.mark.parametrize(
    ("source", "promise"),
    [("1 + 1  # → 2", "2"), ("x = 1\nx\n# → 1", "1"), ("x  # → 1\ny", None), ("x", None)],
)
def test_a_promise_is_read_from_the_last_line(source: str, promise: str | None) -> None:
    assert promised(source) == promise
