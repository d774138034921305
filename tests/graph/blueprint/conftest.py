"""What tests of ``Agent`` share: runs in both modes, and models that keep what they were sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from interlock.graph import Agent


@pytest.fixture(params=["run", "arun"])
def run_agent(request: pytest.FixtureRequest) -> Callable[..., Awaitable[dict[str, Any]]]:
    """``await run_agent(agent, ...)``: the result of a run, in each mode."""

    async def go(agent: Agent, *args: Any, **options: Any) -> dict[str, Any]:
        if request.param == "run":
            return agent.run(*args, **options)
        return await agent.arun(*args, **options)

    return go
