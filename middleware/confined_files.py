"""The files below one folder, and no others: links are not followed, at any level, at any time.

Every folder is opened from the one above it by its name, so that a link that is put in the way
after a check leads nowhere.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..state.errors import ConfigurationError

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_DRIVE = re.compile(r"[A-Za-z]:(?:$|[/\\])")


@dataclass(frozen=True)
class FoundFile:
    """A regular file below the root."""

    parts: tuple[str, ...]
    """The names from the root down to the file."""
    size: int
    modified: float
    """Seconds since the epoch."""
    read: Callable[[], bytes]
    """Reads it; works only until the next file is asked for."""

    @property
    def path(self) -> str:
        """The path as the model knows it, beginning with a slash for the root."""
        return "/" + "/".join(self.parts)


class ConfinedFiles:
    """The files below a folder.

    Args:
        root: The folder.

    Raises:
        ConfigurationError: There is no such folder.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).resolve()
        if not self.root.is_dir():
            msg = f"root_path is {str(root)!r}, which is no folder; give one that exists."
            raise ConfigurationError(msg)

    def parts_of(self, path: str) -> tuple[str, ...] | None:
        """A path as the model writes it, as names below the root; None if it leads elsewhere."""
        if path.startswith("~") or "\\" in path or not path.isprintable() or _DRIVE.match(path):
            return None
        parts = tuple(part for part in path.split("/") if part not in {"", "."})
        return None if ".." in parts else parts

    def walk(
        self, parts: tuple[str, ...], must_end: Callable[[], bool] = lambda: False
    ) -> Iterator[FoundFile]:
        """Every regular file below a folder, in no certain order; none if it is not there.

        Args:
            parts: The names from the root down to the folder.
            must_end: Asked at each folder whether to go on.
        """
        if not hasattr(os, "fwalk"):  # pragma: no cover - Windows
            yield from self._walk_by_name(parts, must_end)
            return
        try:
            top = self._open_folder(parts)
        except OSError:
            return
        try:
            for folder, _, names, descriptor in os.fwalk(".", dir_fd=top, follow_symlinks=False):
                if must_end():
                    return
                inside = tuple(part for part in folder.split("/") if part != ".")
                for name in sorted(names):
                    found = _file((*parts, *inside, name), name, descriptor)
                    if found is not None:
                        yield found
        finally:
            os.close(top)

    def _open_folder(self, parts: tuple[str, ...]) -> int:
        current = os.open(self.root, os.O_RDONLY | _FOLDER)
        for part in parts:
            try:
                inner = os.open(part, os.O_RDONLY | _FOLDER | _NO_LINK, dir_fd=current)
            finally:
                os.close(current)
            current = inner
        return current

    def _walk_by_name(  # pragma: no cover - Windows
        self, parts: tuple[str, ...], must_end: Callable[[], bool]
    ) -> Iterator[FoundFile]:
        top = self.root.joinpath(*parts)
        for folder, folders, names in os.walk(top, followlinks=False):
            if must_end():
                return
            folders[:] = [f for f in folders if not Path(folder, f).is_symlink()]
            for name in sorted(names):
                place = Path(folder, name)
                if place.is_symlink() or not place.resolve().is_relative_to(self.root):
                    continue
                with suppress(OSError):
                    about = place.stat()
                    inside = place.relative_to(self.root).parts
                    yield FoundFile(inside, about.st_size, about.st_mtime, place.read_bytes)


def _file(parts: tuple[str, ...], name: str, folder: int) -> FoundFile | None:
    """The file of a name in an open folder, unless it is a link, a pipe or a device."""
    try:
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    if not stat.S_ISREG(about.st_mode):
        return None

    def read() -> bytes:
        flags = os.O_RDONLY | _NO_LINK | _NO_WAIT | _BINARY
        descriptor = os.open(name, flags, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return b""
            return file.read(about.st_size)

    return FoundFile(parts, about.st_size, about.st_mtime, read)
