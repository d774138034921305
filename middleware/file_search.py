"""Tools that find files by name and by content below one folder, and nowhere else."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Iterator
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import Any

from langchain_core.tools import StructuredTool

from ..state.errors import ConfigurationError
from .base import AgentMiddleware
from .confined_files import ConfinedFiles, FoundFile
from .glob_patterns import is_valid_pattern, matches_include, matches_path, split_pattern
from .redaction.pattern import BoundedPattern
from .ripgrep import search_with_ripgrep
from .search_answer import MOST_LINES, Matches, OutputMode, SearchAnswer

NO_FILES = "No files found"
NO_MATCHES = "No matches found"
_MEGABYTE = 1024 * 1024


class FilesystemFileSearchMiddleware(AgentMiddleware[Any, Any, Any]):
    """Gives the model two tools: ``glob_search`` by name and ``grep_search`` by content.

    The model sees the root as ``/``. Links are not followed, paths with ``..``, ``~``, a drive or
    a backslash lead nowhere, and what lies outside looks like what does not exist. A search ends
    at its time limit, to within a second, and says so; a regular expression that could hold it up
    is refused. It also ends when it has found the 1,000 lines that an answer shows.

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
        search = SearchAnswer(self._time_limit_s)
        fitting = (
            (-file.modified, file.path)
            for file in search.until_late(self._files.walk(start, search.is_late))
            if any(matches_path(file.parts[len(start) :], one) for one in patterns)
        )
        found = nsmallest(MOST_LINES + 1, fitting)
        paths = [path for _, path in found[:MOST_LINES]]
        return search.report(paths, NO_FILES, more=len(found) > MOST_LINES)

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
        start = self._files.parts_of(path)
        if start is None:
            return NO_MATCHES
        search = SearchAnswer(self._time_limit_s)
        matches = self._with_ripgrep(pattern, start, include, output_mode, search)
        if matches is None:
            matches = self._with_python(regex, start, include, output_mode, search)
        return search.report(matches.lines(), NO_MATCHES, more=matches.more)

    def _with_python(
        self,
        regex: BoundedPattern,
        start: tuple[str, ...],
        include: str | None,
        mode: OutputMode,
        search: SearchAnswer,
    ) -> Matches:
        matches = Matches(mode)
        for file in search.until_late(self._files.walk(start, search.is_late)):
            if file.size > self._max_bytes or (
                include and not matches_include(file.parts[-1], include)
            ):
                continue
            lines = enumerate(search.until_late(_lines_of(file)), 1)
            fitting = ((n, line) for n, line in lines if regex.occurs_in(line, search.is_late))
            for number, line in islice(fitting, matches.most_in_file):
                matches.add(file.path, number, line)
                if matches.more:
                    return matches
        return matches

    def _with_ripgrep(
        self,
        pattern: str,
        start: tuple[str, ...],
        include: str | None,
        mode: OutputMode,
        search: SearchAnswer,
    ) -> Matches | None:
        """What ``rg`` finds; None where it is not used, or cannot be for this pattern."""
        matches, place = Matches(mode), self.root_path.joinpath(*start)
        if not self.use_ripgrep:
            return None
        if not place.is_dir() or place.resolve() != place:
            return matches
        arguments = ["--max-filesize", str(self._max_bytes)]
        arguments += ["--glob", include] if include else []
        arguments += ["--max-count", str(most)] if (most := matches.most_in_file) else []
        arguments += ["--", pattern, str(place)]
        found = search_with_ripgrep(arguments, self.root_path, search.seconds_left())
        try:
            for path, number, line in search.until_late(found):
                matches.add(path, number, line)
                if matches.more:
                    break
        except (OSError, subprocess.SubprocessError):
            return None
        finally:
            found.close()
        search.is_late()
        return matches


def _lines_of(file: FoundFile) -> Iterator[str]:
    """The lines of a text file; none of a binary one, or one that cannot be read."""
    try:
        data = file.read()
    except OSError:
        return
    if b"\0" in data[:8192]:
        return
    for line in io.BytesIO(data):
        yield line.decode("utf-8", "replace").rstrip("\r\n")
