"""The process that runs the engine: one tool set, one request at a time.

It is started by path, so it imports nothing of interlock. Each line on its standard input is a
JSON request, each line on its standard output the answer; it ends when its input does, so it
cannot outlive its parent, however that died.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any, BinaryIO


def main(folder: str) -> None:
    """Serve requests until the input ends.

    Args:
        folder: Where the package ``needle`` is.
    """
    # Ctrl-C in a terminal reaches this process too, but the parent decides when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What native code prints must not mix with the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    engine: Any = None
    for line in sys.stdin.buffer:
        try:
            request = json.loads(line)
            if engine is None:
                engine, answer = _started(request, folder), {}
            else:
                answer = _answered(engine, request)
        except Exception as exc:  # noqa: BLE001 - the boundary to the parent
            answer = {"failure": f"{type(exc).__name__}: {exc}"}
        _write(answers, answer)


def _started(request: dict[str, Any], folder: str) -> Any:
    # The very package that the parent found, whatever else is on the path. The environment that
    # silences it is the parent's gift too.
    spec = PathFinder.find_spec("needle", [folder])
    if spec is None or spec.loader is None:
        msg = f"there is no package 'needle' in {folder!r}"
        raise ImportError(msg)
    needle: Any = module_from_spec(spec)
    sys.modules["needle"] = needle
    spec.loader.exec_module(needle)
    # The date is a fact like others: added here it would change the answers every minute.
    return needle.Needle(tools=request["tools"], system=request["facts"], auto_date=False)


def _answered(engine: Any, request: dict[str, Any]) -> dict[str, Any]:
    if request["reset"]:
        engine.reset()
    return {"answer": engine.complete(request["text"], max_new_tokens=request["max_tokens"])}


def _write(stream: BinaryIO, answer: dict[str, Any]) -> None:
    stream.write(json.dumps(answer).encode("ascii") + b"\n")
    stream.flush()


if __name__ == "__main__":
    main(sys.argv[1])
