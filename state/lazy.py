"""Names of a package whose modules are loaded when somebody first asks for them.

Source: module attributes as of PEP 562, as langchain-core loads its own packages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, places: Mapping[str, Iterable[str] | None]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and the ``__dir__`` of a package.

    Type checkers must not see them, since any name would then do; they see the same imports
    under ``if TYPE_CHECKING``.

    Args:
        package: Its dotted name.
        places: By module, relative to the package, the names that it holds; None stands for all
            names that it exports, ``__all__`` itself included.
    """
    modules = {name: module for module, names in places.items() for name in names or ()}
    whole = [module for module, names in places.items() if names is None]

    def exports(module: str, name: str) -> bool:
        if name.startswith("__"):
            # What Python itself looks for in every module loads nothing.
            return name == "__all__"
        return name in import_module(f"{package}.{module}").__all__

    def load(name: str) -> Any:
        place = modules.get(name) or next((m for m in whole if exports(m, name)), None)
        if place is None:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg, name=name)
        return getattr(import_module(f"{package}.{place}"), name)

    def listed() -> list[str]:
        exported = [n for module in whole for n in import_module(f"{package}.{module}").__all__]
        return sorted({*vars(sys.modules[package]), *modules, *exported})

    return load, listed
