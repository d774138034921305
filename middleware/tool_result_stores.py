"""Where offloaded tool results are kept: files, or the agent's long-term store."""

from __future__ import annotations

import os
import re
import uuid
from base64 import b64decode, b64encode
from collections.abc import Sequence
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, Protocol, cast

from langgraph.store.base import BaseStore

from ..state.errors import ConfigurationError, StorageError

_MAX_NAME = 160
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")


class ToolResultStore(Protocol):
    """Keeps results under keys such as ``thread/3_search_c1_6f….txt``.

    Both methods are plain functions; in an asynchronous run they are called in a worker thread.
    """

    supports_binary_content: bool
    """Whether it takes bytes. If not, results with images or files stay in the conversation."""

    def write(self, key: str, content: str | bytes) -> str:
        """Keep a result and return the reference under which :meth:`read` finds it."""
        ...

    def read(self, reference: str) -> str | bytes:
        """The result that was kept under a reference.

        Raises:
            StorageError: There is none.
        """
        ...


def checked_store(store: Any) -> ToolResultStore:
    """A store, if it is one.

    Raises:
        ConfigurationError: A method is missing or asynchronous.
    """
    for name in ("write", "read"):
        method = getattr(store, name, None)
        if not callable(method) or iscoroutinefunction(method):
            msg = f"{store!r} is no store of tool results; it needs a plain method {name!r}."
            raise ConfigurationError(msg)
    return cast("ToolResultStore", store)


def result_key(folder: str | None, parts: Sequence[object]) -> str:
    """A key that nothing else has and nobody can guess, so that a reference is a permission.

    Args:
        folder: What the results of one conversation have in common, such as its thread id.
        parts: What makes the key readable; characters that no file name should have are replaced.
    """
    name = "_".join(safe_name(str(part), 40) for part in parts)
    unique = f"{name[:_MAX_NAME]}_{uuid.uuid4().hex}"
    return unique if folder is None else f"{safe_name(folder, 80)}/{unique}"


def safe_name(text: str, length: int) -> str:
    """Text as part of a file name: plain letters, digits, dots, dashes and underscores."""
    return _UNSAFE.sub("-", text).strip(".-")[:length] or "x"


def checked_key(key: str) -> list[str]:
    """The names that a key consists of.

    Raises:
        StorageError: It is absolute, leads upwards, or holds anything that no key of ours holds.
    """
    names = key.split("/")
    if not all(len(name) <= _MAX_NAME + 60 and _NAME.fullmatch(name) for name in names):
        msg = f"{key[:100]!r} is no reference of a stored result; pass one as it was given."
        raise StorageError(msg)
    return names


class FileSystemToolResultStore:
    """Keeps results as files below a folder.

    A key cannot leave the folder, neither by its words nor through symbolic links, and never
    replaces a file. Nothing is deleted: remove old files, or a thread's folder, yourself.
    """

    supports_binary_content = True

    def __init__(self, root: str | Path) -> None:
        """Use a folder, which is made when the first result is kept."""
        self.root = Path(root)

    def write(self, key: str, content: str | bytes) -> str:
        """Keep a result as a file that only this user can read; returns the key.

        Raises:
            StorageError: The key leads out of the folder or is taken, or the file cannot be
                written.
        """
        *folders, name = checked_key(key)
        data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
        try:
            folder = self.root.joinpath(*folders)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self._inside(folder, key) / name
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
                file.write(data)
        except OSError as error:
            msg = f"The result {key!r} cannot be kept: {error}; check the folder of the store."
            raise StorageError(msg) from error
        return key

    def read(self, reference: str) -> str | bytes:
        """The content of a file: text if it is UTF-8, else bytes.

        Raises:
            StorageError: There is no such file, or it lies outside the folder.
        """
        names = checked_key(reference)
        try:
            path = self._inside(self.root.joinpath(*names), reference)
            return _text_if_possible(path.read_bytes())
        except OSError as error:
            msg = f"There is no stored result {reference!r}; check the reference."
            raise StorageError(msg) from error

    def _inside(self, path: Path, key: str) -> Path:
        """The real path, links followed.

        Raises:
            StorageError: It lies outside the folder.
        """
        real = path.resolve(strict=True)
        if not real.is_relative_to(self.root.resolve()):
            msg = f"{key!r} leads out of the store; pass a reference as it was given."
            raise StorageError(msg)
        return real


class LangGraphToolResultStore:
    """Keeps results in a langgraph store, one namespace for each folder of keys.

    Nothing is deleted: set a time to live on the store, or delete a thread's namespace.
    """

    supports_binary_content = True

    def __init__(self, store: BaseStore, namespace: tuple[str, ...] = ("tool_results",)) -> None:
        """Use a store, below a namespace."""
        self.store = store
        self.namespace = namespace

    def write(self, key: str, content: str | bytes) -> str:
        """Keep a result; returns the key."""
        *folders, name = checked_key(key)
        value: dict[str, Any] = (
            {"base64": b64encode(content).decode()}
            if isinstance(content, bytes)
            else {"text": content}
        )
        # Results are found by their key alone, so they need no place in a search index.
        self.store.put((*self.namespace, *folders), name, value, index=False)
        return key

    def read(self, reference: str) -> str | bytes:
        """The result that was kept.

        Raises:
            StorageError: There is none.
        """
        *folders, name = checked_key(reference)
        item = self.store.get((*self.namespace, *folders), name)
        if item is None:
            msg = f"There is no stored result {reference!r}; check the reference."
            raise StorageError(msg)
        if (encoded := item.value.get("base64")) is not None:
            return b64decode(encoded)
        return str(item.value.get("text", ""))


def _text_if_possible(data: bytes) -> str | bytes:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data
