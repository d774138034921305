"""Settings from a ``.env`` file: for the command line only, never for the library."""

from __future__ import annotations

from pathlib import Path

from ....state.errors import ConfigurationError, MissingExtraError


def read_dotenv(folder: Path) -> None:
    """Set the environment variables of a folder's ``.env`` that are not set already.

    Folders above are not searched: a file that somebody else may have put there would choose
    where keys are sent. Values are taken as they are, ``${NAME}`` is not replaced.

    Args:
        folder: Where the file is, if there is one.

    Raises:
        MissingExtraError: There is a file, and nothing here that reads it.
        ConfigurationError: The file cannot be read.
    """
    path = folder / ".env"
    if not path.is_file():
        return
    try:
        from dotenv import load_dotenv  # noqa: PLC0415 - only a folder with the file needs it
    except ImportError:
        msg = f"{str(path)!r} needs the extra 'cli': pip install 'interlock[cli]'."
        raise MissingExtraError(msg, extra="cli") from None
    try:
        load_dotenv(path, override=False, interpolate=False, encoding="utf-8")
    except (OSError, ValueError) as error:
        # Not the error's own words: they may quote a line, and a line may hold a key.
        msg = (
            f"{str(path)!r} cannot be read ({type(error).__name__}). "
            "Give it lines of NAME=value in UTF-8, or remove it."
        )
        raise ConfigurationError(msg) from None
