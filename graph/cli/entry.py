"""Where the command begins: it says what is missing before anything else can fail."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from ...state.errors import ConfigurationError, InterlockError

_NEEDED = ("typer", "rich")
_MISSING = "The interlock command needs the extra 'cli': pip install 'interlock[cli]'."


def main() -> None:
    """Run the command line and leave the process with its exit code.

    The code is 0 if the command did what it says, 1 if it failed, 2 if it cannot begin: wrong
    arguments or settings, or an extra that is not installed.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter gets an escape in its place.
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    if not all(map(_is_installed, _NEEDED)):
        sys.exit(_refused(_MISSING))
    from .app import build_app  # noqa: PLC0415 - only now it is known that it can be imported

    try:
        build_app()()
    except ConfigurationError as error:
        sys.exit(_refused(str(error)))
    except InterlockError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # None in sys.modules, as if it were not there
        return False


def _refused(reason: str) -> int:
    sys.stderr.write(f"{reason}\n")
    return 2
