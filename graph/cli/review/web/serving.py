"""Serving the page on loopback."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from functools import partial

import anyio

from .....state.errors import ConfigurationError, MissingExtraError
from ..desk import Desk

LOOPBACK = "127.0.0.1"


def serve(desk: Desk, port: int, say: Callable[[str], None]) -> None:
    """Serve the page until somebody stops the program.

    Args:
        desk: What is reviewed.
        port: A free port; 0 takes any.
        say: Told the address, with the key in it, when the page can be opened.

    Raises:
        MissingExtraError: The extra ``web`` is not installed.
        ConfigurationError: The port is taken.
    """
    try:
        import uvicorn  # noqa: PLC0415 - an extra

        from .app import review_app  # noqa: PLC0415 - needs the extra
        from .guard import Secrets  # noqa: PLC0415 - needs the extra
    except ImportError:
        msg = "--web needs the extra 'web': pip install 'interlock[web]'."
        raise MissingExtraError(msg, extra="web") from None
    try:
        listener = socket.create_server((LOOPBACK, port))
    except OSError as error:
        msg = f"--port {port} cannot be used: {error.strerror}; name another, or 0 for any."
        raise ConfigurationError(msg) from error
    with listener:
        bound, own = listener.getsockname()[1], Secrets()
        # No request is logged: the first has the key in its address.
        config = uvicorn.Config(
            review_app(desk, bound, own),
            log_level=logging.WARNING,
            access_log=False,
            server_header=False,
            lifespan="off",
        )
        say(f"http://{LOOPBACK}:{bound}/?key={own.key}")
        anyio.run(partial(uvicorn.Server(config).serve, sockets=[listener]))
