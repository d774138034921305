"""Who would hear of a run: callbacks, tracers, the debug mode."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManager


def somebody_listens(callbacks: Any) -> bool:
    """Whether a run is heard of anywhere.

    Args:
        callbacks: What its config has as ``callbacks``; the environment and context managers
            may add others.
    """
    return bool(CallbackManager.configure(inheritable_callbacks=callbacks).handlers)
