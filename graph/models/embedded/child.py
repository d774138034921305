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
    sys.path.append(folder)
    engine: Any = None
    for line in sys.stdin.buffer:
        try:
            request = json.loads(line)
            if engine is None:
                engine, answer = _started(request), {}
            else:
                answer = _answered(engine, request)
        except Exception as exc:  # noqa: BLE001 - the boundary to the parent
            answer = {"failure": f"{type(exc).__name__}: {exc}"}
        _write(answers, answer)


def _started(request: dict[str, Any]) -> Any:
    import needle  # noqa: PLC0415 - the environment that silences it is set by the parent

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
