"""Small functions, small files, named by what they hold, and logic written once."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ["graph", "middleware", "state", "tools"]
LIBRARY = sorted(path for name in FOLDERS for path in (ROOT / name).rglob("*.py"))
PACKAGES = [path for path in LIBRARY if path.name == "__init__.py"]

LONGEST_FUNCTION = 60
LONGEST_FILE = 300
LONGEST_ADAPTER = 2
LAZINESS = {"annotations", "TYPE_CHECKING", "lazy_names"}
NAMES_THAT_NAME_NOTHING = {"common", "helper", "helpers", "misc", "types", "util", "utils"}

# Elsewhere `asyncio` would fail under `invoke`, where no loop runs, before our error can say so.
ASYNCIO = {
    "tools/calls.py": "the port itself: its awaiting side, and the error for what would block",
    "graph/models/openai_compatible/ports.py": "the awaiting port of a model that does its own I/O",
    "graph/models/openai_compatible/loop_network.py": "the sockets behind that port",
    "graph/cli/talk/program.py": "a program owns its event loop",
    "graph/models/openai_compatible/connections.py": "a connection belongs to one event loop",
}

# Names that foreign interfaces ask for in both forms, as Python does for `__enter__`.
TWINS = {
    # langchain-core: chat models, tools, runnables
    *("_generate", "_stream", "_run", "batch", "invoke", "stream", "transform"),
    # its `StructuredTool` keeps a function and a coroutine function, each wrapped in its own kind
    "_noting",
    # langgraph: what `update_state` and its twin of a compiled graph call
    "bulk_update_state",
    # and its views of a stream, driven in each way
    *("fail", "finalize", "process"),
    # a record at a time for a loop of either kind: both names are what users look for
    "extract",
    # wrap_tool_call of a middleware that has it only when it is asked to
    "_wrap_tool_call",
    # LangChain middleware, whose authors write both, and the hooks that interlock adds to it
    *("after_agent", "after_model", "before_agent", "before_model"),
    *("wrap_model_call", "wrap_tool_call"),
    *("after_tools", "before_tools", "on_error", "on_exit"),
    # and whose layers a flow serves, driven in each way
    "drive",
    # httpx: a client of blocking calls and one of awaited calls are closed each in its way
    "close",
    # langgraph checkpoint savers
    *("delete_thread", "get_tuple", "list", "put", "put_writes"),
    # the agent as a value: Haystack's `run` and its asynchronous form, as of `warm_up`
    *("run", "warm_up"),
    # and what a paused thread is asked for by people, beside it
    *("answer", "pending", "resume_snapshot"),
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.AST) -> Iterator[Function]:
    """Give every function of a file, nested ones too."""
    for node in ast.walk(tree):
        if isinstance(node, Function):
            yield node


def statements(function: Function) -> int:
    """Count what a function does: no docstring, no unused argument, no line that opens another."""
    inside = [node for body in function.body for node in ast.walk(body)]
    counted = sum(
        isinstance(n, ast.stmt) and not isinstance(n, Function | ast.Delete) for n in inside
    )
    return counted - (ast.get_docstring(function) is not None)


def uses(function: Function, name: str) -> bool:
    """Tell whether a function leaves its work to another one."""
    named = [node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)]
    return name in named


def twin_names(name: str) -> set[str]:
    """Name what the asynchronous form of `name` would be called."""
    bare = name.lstrip("_")
    under = name[: len(name) - len(bare)]
    return {f"{under}a{bare}", f"{name}_async", f"async_{name}"}


def twins(tree: ast.AST) -> Iterator[tuple[Function, Function]]:
    """Pair the functions of one class or module that do the same in both forms."""
    for scope in ast.walk(tree):
        if isinstance(scope, ast.Module | ast.ClassDef):
            here = {node.name: node for node in scope.body if isinstance(node, Function)}
            for name, function in here.items():
                yield from ((function, here[other]) for other in twin_names(name) & set(here))


def twin_faults(tree: ast.AST) -> list[str]:
    """Say which twins nobody asks for, and which hold their logic twice."""
    found: list[str] = []
    for one, other in twins(tree):
        demanded = one.name in TWINS or one.name.startswith("__")
        thin = min(statements(one), statements(other)) <= LONGEST_ADAPTER
        if not demanded or not (thin or uses(other, one.name)):
            found.append(f"{one.name}/{other.name}")
    return found


def module_imports(tree: ast.AST) -> set[str]:
    """Name the top-level modules that a file imports absolutely."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").split(".")[0])
    return names


def statically(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Give the statements that a type checker sees: lazy imports are written beside others."""
    for node in body:
        lazy = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        yield from cast("ast.If", node).body if lazy else [node]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def test_no_function_is_longer_than_a_screen() -> None:
    long = [
        f"{relative(path)}:{function.lineno} {function.name}"
        for path in LIBRARY
        for function in functions(parse(path))
        if (function.end_lineno or 0) - function.lineno + 1 > LONGEST_FUNCTION
    ]

    assert long == []


def test_no_file_holds_more_than_one_idea() -> None:
    files = [*LIBRARY, *sorted((ROOT / "tests").rglob("*.py"))]
    sizes = {relative(path): len(path.read_text("utf-8").splitlines()) for path in files}

    assert {name: size for name, size in sizes.items() if size > LONGEST_FILE} == {}


def test_every_module_is_named_by_what_it_holds() -> None:
    named = {relative(path): path.stem.strip("_") for path in LIBRARY}

    assert [path for path, name in named.items() if name in NAMES_THAT_NAME_NOTHING] == []


@pytest.mark.parametrize("path", PACKAGES, ids=relative)
def test_package_only_describes_and_exports(path: Path) -> None:
    tree = parse(path)
    rest = tree.body[1:]

    assert ast.get_docstring(tree)
    assert all(isinstance(n, ast.ImportFrom | ast.Assign | ast.AnnAssign) for n in statically(rest))


@pytest.mark.parametrize("path", PACKAGES, ids=relative)
def test_package_names_all_it_exports_once(path: Path) -> None:
    package = importlib.import_module(".".join(["interlock", *path.relative_to(ROOT).parts[:-1]]))
    body = [*statically(parse(path).body)]
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in body):
        body = parse(path.parent / "exports.py").body
    imports = [node for node in body if isinstance(node, ast.ImportFrom)]
    exported = {alias.asname or alias.name for node in imports for alias in node.names}

    assert sorted(package.__all__) == sorted(exported - LAZINESS)
    assert all(hasattr(package, name) for name in package.__all__)


@pytest.mark.parametrize(
    "path", [path for path in PACKAGES if "lazy_names(" in path.read_text("utf-8")], ids=relative
)
def test_lazy_package_exports_nothing_under_the_name_of_a_module(path: Path) -> None:
    package = importlib.import_module(".".join(["interlock", *path.relative_to(ROOT).parts[:-1]]))
    modules = {item.stem for item in path.parent.iterdir()}

    # Importing the module would put it in the place of what is exported.
    assert modules & set(package.__all__) == set()


def test_guardrails_are_the_same_whichever_way_they_are_loaded() -> None:
    package = importlib.import_module("interlock.middleware")
    exports = importlib.import_module("interlock.middleware.exports")

    assert {n: getattr(package, n) for n in exports.__all__} == {
        n: getattr(exports, n) for n in exports.__all__
    }


def test_asyncio_stays_behind_the_port() -> None:
    users = {relative(path) for path in LIBRARY if "asyncio" in module_imports(parse(path))}

    assert users - set(ASYNCIO) == set()


def test_nothing_is_written_for_sync_and_async() -> None:
    found = {relative(path): twin_faults(parse(path)) for path in LIBRARY}

    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def load(): ...\nasync def aload(): ...", ["load/aload"]),
        ("def load(): ...\nasync def load_async(): ...", ["load/load_async"]),
        ("class A:\n def _load(self): ...\n async def _aload(self): ...", ["_load/_aload"]),
        ("class A:\n def load(self): ...\nasync def aload(): ...", []),
        ("def invoke(): ...\nasync def ainvoke(): ...", []),
        ("def invoke(): a; b; c\nasync def ainvoke(): a; b", []),
        ("def invoke(): a; b; c\nasync def ainvoke(): a; b; c", ["invoke/ainvoke"]),
        ("def close(): a; b; c\nasync def aclose(): self.close(); b; c", []),
        ("class A:\n def __enter__(s): ...\n async def __aenter__(s): ...", []),
    ],
)
def test_twins_are_found(source: str, found: list[str]) -> None:
    assert twin_faults(ast.parse(source)) == found
