"""Tools that find files by name and by content below one folder, and nowhere else."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from langchain_core.tools import StructuredTool

from ..state.errors import ConfigurationError
from .base import AgentMiddleware
from .confined_files import ConfinedFiles, FoundFile
from .glob_patterns import is_valid_pattern, matches_include, matches_path, split_pattern
from .redaction.pattern import BoundedPattern

OutputMode = Literal["files_with_matches", "content", "count"]

NO_FILES = "No files found"
NO_MATCHES = "No matches found"
_MEGABYTE = 1024 * 1024
_MOST_LINES = 1_000
_LONGEST_LINE = 500

Lines = list[tuple[int, str]]


class FilesystemFileSearchMiddleware(AgentMiddleware[Any, Any, Any]):
    """Gives the model two tools: ``glob_search`` by name and ``grep_search`` by content.

    The model sees the root as ``/``. Links are not followed, paths with ``..``, ``~``, a drive or
    a backslash lead nowhere, and what lies outside looks like what does not exist. A search ends
    at its time limit and says so; a regular expression that could take exponential time is
    refused.

    Not covered: hard links, which are files of the folder like any other; what else may read the
    folder, such as a shell tool.

    Args:
        root_path: The folder.
        use_ripgrep: Search with the program ``rg`` where it is installed; the answers are the
            same, only sooner, and its regular expressions know no look-around.
        max_file_size_mb: Larger files are not searched, in megabytes of 1,048,576 bytes.
        time_limit_s: Longest search, in seconds.

    Raises:
        ConfigurationError: The folder does not exist, or a limit is not positive.
    """

    def __init__(
        self,
        *,
        root_path: str | Path,
        use_ripgrep: bool = True,
        max_file_size_mb: float = 10,
        time_limit_s: float = 10.0,
    ) -> None:
        super().__init__()
        for name, value in (("max_file_size_mb", max_file_size_mb), ("time_limit_s", time_limit_s)):
            if value <= 0:
                msg = f"{name} is {value!r}; it must be positive."
                raise ConfigurationError(msg)
        self._files = ConfinedFiles(root_path)
        self.root_path = self._files.root
        self.use_ripgrep = use_ripgrep
        self._max_bytes = int(max_file_size_mb * _MEGABYTE)
        self._time_limit_s = time_limit_s
        self.glob_search = StructuredTool.from_function(self._glob, name="glob_search")
        self.grep_search = StructuredTool.from_function(self._grep, name="grep_search")
        self.tools = [self.glob_search, self.grep_search]

    def _glob(self, pattern: str, path: str = "/") -> str:
        """Find files by name.

        Args:
            pattern: Pattern of the path below ``path``, such as ``*.py``, ``src/**/*.ts`` or
                ``*.{js,ts}``.
            path: Folder to look in, ``/`` for all.
        """
        patterns, start = split_pattern(pattern), self._files.parts_of(path)
        if patterns is None or start is None:
            return NO_FILES
        search = _Search(self._time_limit_s)
        found = [
            file
            for file in search.until_late(self._files.walk(start))
            if any(matches_path(file.parts[len(start) :], one) for one in patterns)
        ]
        found.sort(key=lambda file: (-file.modified, file.path))
        return search.report([file.path for file in found], NO_FILES)

    def _grep(
        self,
        pattern: str,
        path: str = "/",
        include: str | None = None,
        output_mode: OutputMode = "files_with_matches",
    ) -> str:
        """Find files by content.

        Args:
            pattern: Regular expression for a part of a line.
            path: Folder to look in, ``/`` for all.
            include: Pattern of the file names to look at, such as ``*.py`` or ``*.{ts,tsx}``.
            output_mode: ``files_with_matches`` lists files, ``content`` the lines with file and
                line number, ``count`` the number of lines by file.
        """
        try:
            regex = BoundedPattern(pattern)
        except ConfigurationError as error:
            return f"Invalid regex pattern: {error}"
        if include and not is_valid_pattern(include):
            return "Invalid include pattern"
        search, results = _Search(self._time_limit_s), None
        if self.use_ripgrep:
            with suppress(OSError, subprocess.SubprocessError):
                results = self._ripgrep_search(pattern, path, include)
        if results is None:
            results = self._python_search(regex, path, include, search)
        return search.report(_formatted(results, output_mode), NO_MATCHES)

    def _python_search(
        self, regex: BoundedPattern, path: str, include: str | None, search: _Search
    ) -> dict[str, Lines]:
        start = self._files.parts_of(path)
        if start is None:
            return {}
        results: dict[str, Lines] = {}
        for file in search.until_late(self._files.walk(start)):
            if file.size > self._max_bytes or (
                include and not matches_include(file.parts[-1], include)
            ):
                continue
            lines = enumerate(search.until_late(_lines_of(file)), 1)
            found = [(n, line) for n, line in lines if regex.occurs_in(line, search.is_late)]
            if found:
                results[file.path] = found
        return results

    def _ripgrep_search(
        self, pattern: str, base_path: str, include: str | None
    ) -> dict[str, Lines] | None:
        """What ``rg`` finds; None where it cannot be used for this pattern.

        Raises:
            OSError: It is not installed.
            subprocess.SubprocessError: It takes too long.
        """
        start = self._files.parts_of(base_path)
        place = None if start is None else self.root_path.joinpath(*start)
        if place is None or not place.is_dir() or place.resolve() != place:
            return {}
        command = ["rg", "--json", "--no-config", "--no-follow", "--hidden", "--no-ignore"]
        command += ["--max-filesize", str(self._max_bytes), "--sort", "path"]
        command += ["--glob", include] if include else []
        command += ["--", pattern, str(place)]
        done = subprocess.run(  # noqa: S603 - no shell; the pattern stands behind "--"
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=self._time_limit_s,
            check=False,
        )
        if getattr(done, "returncode", 0) not in (0, 1):
            return None
        return self._read_ripgrep(done.stdout)

    def _read_ripgrep(self, output: str) -> dict[str, Lines]:
        results: dict[str, Lines] = {}
        for line in output.splitlines():
            with suppress(ValueError, KeyError, TypeError):
                event: Any = json.loads(line)
                if event["type"] == "match":
                    found = event["data"]
                    inside = Path(found["path"]["text"]).relative_to(self.root_path)
                    text = str(found["lines"]["text"]).rstrip("\r\n")
                    entry = results.setdefault("/" + inside.as_posix(), [])
                    entry.append((int(found["line_number"]), text))
        return results


class _Search:
    """One search with its deadline."""

    def __init__(self, time_limit_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = time_limit_s
        self._clock = clock
        self._deadline = clock() + time_limit_s
        self._late = False

    def is_late(self) -> bool:
        """Whether the time is over."""
        self._late = self._late or self._clock() > self._deadline
        return self._late

    def until_late(self, items: Iterator[Any]) -> Iterator[Any]:
        """The items, up to the time limit."""
        for item in items:
            if self.is_late():
                return
            yield item

    def report(self, lines: Sequence[str], nothing: str) -> str:
        """The answer for the model."""
        shown = [line[:_LONGEST_LINE] for line in lines[:_MOST_LINES]]
        if len(lines) > _MOST_LINES:
            shown.append(f"[{len(lines) - _MOST_LINES} more; narrow the search]")
        if self._late:
            note = f"[stopped after {self._limit:g} s; the search is not complete]"
            return "\n".join([*(shown or [nothing]), note])
        return "\n".join(shown) if shown else nothing


def _lines_of(file: FoundFile) -> Iterator[str]:
    """The lines of a text file; none of a binary one, or one that cannot be read."""
    try:
        data = file.read()
    except OSError:
        return iter(())
    if b"\0" in data[:8192]:
        return iter(())
    return iter(data.decode("utf-8", "replace").splitlines())


def _formatted(results: Mapping[str, Lines], mode: OutputMode) -> list[str]:
    if mode == "content":
        return [f"{path}:{n}:{line}" for path in sorted(results) for n, line in results[path]]
    if mode == "count":
        return [f"{path}:{len(results[path])}" for path in sorted(results)]
    return sorted(results)
