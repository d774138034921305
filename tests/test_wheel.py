"""What is built holds what stands on disk: a wrong setting gives an empty wheel without a word."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"graph", "middleware", "state", "tools"}


def hatch_build(source: Path, target: str, into: Path) -> Path:
    """Build `source` without a network and without asking git, as an index user's pip does."""
    hatchling = Path(sys.executable).with_name("hatchling")
    command = [str(hatchling), "build", "--target", target, "--directory", str(into)]
    subprocess.run(command, cwd=source, capture_output=True, text=True, check=True)
    [built] = into.iterdir()
    return built


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what is tracked, or would be after `git add`, to a place outside of git."""
    copy = tmp_path_factory.mktemp("tree")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        source, target = ROOT / name, copy / name
        if source.is_file() or source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    return copy


@pytest.fixture(scope="module")
def library(tree: Path) -> set[str]:
    """Name every file of the four folders, relative to the root."""
    files = (path for folder in FOLDERS for path in (tree / folder).rglob("*") if path.is_file())
    return {path.relative_to(tree).as_posix() for path in files}


@pytest.fixture(scope="module")
def sdist(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the source distribution and unpack it."""
    archive = hatch_build(tree, "sdist", tmp_path_factory.mktemp("sdist"))
    unpacked = tmp_path_factory.mktemp("unpacked")
    # By hand: the safe filter of `extractall` is younger than Python 3.11.0.
    with tarfile.open(archive) as packed:
        for member in packed.getmembers():
            content = packed.extractfile(member)
            if content is not None:
                target = unpacked / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.read())
    [root] = unpacked.iterdir()
    return root


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the unpacked source distribution, where it once came out empty."""
    return hatch_build(sdist, "wheel", tmp_path_factory.mktemp("wheel"))


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as file:
        return set(file.namelist())


def test_there_are_modules_to_compare(library: set[str]) -> None:
    assert {f"{folder}/__init__.py" for folder in FOLDERS} <= library


def test_sdist_holds_the_folders_and_no_links(sdist: Path, library: set[str]) -> None:
    files = {path.relative_to(sdist).as_posix() for path in sdist.rglob("*") if path.is_file()}

    assert {name for name in files if name.split("/")[0] in FOLDERS} == library
    assert {name for name in files if "/" in name} == library


def test_sdist_holds_what_the_build_reads(sdist: Path) -> None:
    assert all((sdist / name).is_file() for name in ("LICENSE", "README.md", "pyproject.toml"))


def test_wheel_built_from_the_sdist_holds_the_folders(wheel: Path, library: set[str]) -> None:
    packed = {name for name in names(wheel) if ".dist-info/" not in name}

    assert packed == {f"interlock/{name}" for name in library}


def test_wheel_built_from_the_tree_is_the_same(
    wheel: Path, tree: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    direct = hatch_build(tree, "wheel", tmp_path_factory.mktemp("direct"))

    assert names(direct) == names(wheel)


def test_wheel_carries_the_licence_and_the_command(wheel: Path) -> None:
    carried = {PurePosixPath(name).name for name in names(wheel) if ".dist-info/" in name}

    assert {"LICENSE", "METADATA", "entry_points.txt"} <= carried


def test_unpacked_wheel_imports_from_its_own_files(wheel: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(wheel, tmp_path, "zip")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        + "".join(f"import interlock.{folder}\n" for folder in sorted(FOLDERS))
        + "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('interlock.')))"
    )
    command = [sys.executable, "-P", "-c", code]
    loaded = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert loaded.stderr == ""
    assert all(Path(file).is_relative_to(tmp_path) for file in loaded.stdout.split())
