"""What is committed says nothing it should not, and the library does nothing it promises not to."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ("graph/", "middleware/", "state/", "tools/")

# Put together here, so that this file does not hold them either.
INDEX_HOSTS = [
    ".".join(host)
    for host in [
        ("pypi", "org"),
        ("pypi", "python", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("debian", "org"),
        ("anaconda", "org"),
    ]
]
# Folders in which somebody keeps a checkout, a scratch copy, or what lies beside them.
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|workspace|Users|tmp)/\w|\.\./shared\b")
PICKLES = {"_pickle", "cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve"}
RUNS_TEXT = {"__import__", "compile", "eval", "exec"}
UNSAFE_SETTINGS = {("shell", True), ("verify", False), ("pickle_fallback", True)}


def committed() -> dict[str, str]:
    """Give the text of every file that is tracked, or would be after `git add`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    texts: dict[str, str] = {}
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            texts[name] = path.read_bytes().decode("utf-8", errors="replace")
    return texts


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return committed()


def dangers(source: str) -> list[str]:
    """Name what in `source` runs text as code, rebuilds pickles or drops a protection."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name.split(".")[0] in PICKLES]
        elif isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            module = node.module or ""
            found += [module] if module.split(".")[0] in PICKLES else []
            # `load` and `loads` build any class that the data names.
            found += (
                [module] if "langchain_core.load" in module and names & {"load", "loads"} else []
            )
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found += [node.func.id] if node.func.id in RUNS_TEXT else []
        elif isinstance(node, ast.keyword) and isinstance(node.value, ast.Constant):
            found += [node.arg or ""] if (node.arg, node.value.value) in UNSAFE_SETTINGS else []
    return found


def requirements() -> list[Requirement]:
    """Read every requirement that `pyproject.toml` states, for building too."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = settings["project"]["optional-dependencies"].values()
    stated = [*settings["project"]["dependencies"], *(line for extra in extras for line in extra)]
    return [Requirement(line) for line in [*stated, *settings["build-system"]["requires"]]]


def pins() -> dict[str, str]:
    """Read name and version of every pin of the lock; of several, the newest Python's."""
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ]+)", lock, flags=re.MULTILINE))


@pytest.mark.parametrize("host", INDEX_HOSTS)
def test_no_file_names_a_package_index(texts: dict[str, str], host: str) -> None:
    assert [name for name, text in texts.items() if host in text] == []


def test_no_file_names_a_place_on_one_machine(texts: dict[str, str]) -> None:
    found = {name: match[0] for name, text in texts.items() if (match := MACHINE_PATH.search(text))}

    assert found == {}


def test_no_file_names_this_checkout(texts: dict[str, str]) -> None:
    assert [name for name, text in texts.items() if f"{ROOT}/" in text] == []


def test_relative_links_in_documents_lead_somewhere(texts: dict[str, str]) -> None:
    documents = {name: text for name, text in texts.items() if name.endswith(".md")}
    links = [
        (name, link)
        for name, text in documents.items()
        for link in re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", text)
    ]

    assert [
        (name, link) for name, link in links if not (ROOT / name).parent.joinpath(link).exists()
    ] == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "eval(text)",
        "exec(text)",
        "run(command, shell=True)",
        "Client(verify=False)",
        "JsonPlusSerializer(pickle_fallback=True)",
        "from langchain_core.load import loads",
    ],
)
def test_a_danger_is_found(source: str) -> None:
    assert dangers(source)


@pytest.mark.parametrize(
    "source", ["json.loads(text)", "re.compile(rule)", "graph.compile()", "run(x, shell=False)"]
)
def test_what_looks_like_a_danger_is_none(source: str) -> None:
    assert dangers(source) == []


def test_the_library_holds_no_danger(texts: dict[str, str]) -> None:
    library = {n: t for n, t in texts.items() if n.startswith(LIBRARY) and n.endswith(".py")}

    assert {name: found for name, text in library.items() if (found := dangers(text))} == {}


def test_notebooks_are_committed_without_outputs(texts: dict[str, str]) -> None:
    cells = [
        (name, cell)
        for name, text in texts.items()
        if name.endswith(".ipynb")
        for cell in json.loads(text)["cells"]
    ]

    assert [n for n, cell in cells if cell.get("outputs") or cell.get("execution_count")] == []


def test_every_requirement_is_locked() -> None:
    versions = pins()
    named = {requirement: canonicalize_name(requirement.name) for requirement in requirements()}

    assert [str(requirement) for requirement, name in named.items() if name not in versions] == []
    assert [str(r) for r, name in named.items() if not r.specifier.contains(versions[name])] == []


def test_every_pin_has_hashes_and_no_address() -> None:
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    blocks = re.split(r"^(?=\S)", lock, flags=re.MULTILINE)[1:]

    assert {block.split("==")[0] for block in blocks} == pins().keys()
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []
    assert not re.search(r"://|\s@\s|^--", lock, flags=re.MULTILINE)
