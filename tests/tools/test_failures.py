"""What layers learn of a call that raised."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.errors import GraphInterrupt

from interlock.state.errors import InvalidUpdateError, ToolExecutionError, WouldBlockError
from interlock.state.fatal import fatal
from interlock.tools import InjectedState, ToolPolicy
from interlock.tools.failures import failed_message
from interlock.tools.layers import Flow, Layer
from interlock.tools.results import CallResult

Execute = Callable[..., Awaitable[list[CallResult]]]
CALL: Any = {"name": "leak", "args": {}, "id": "c1", "type": "tool_call"}


class Watch:
    """A layer that keeps what it learns of failures and lets them pass."""

    def __init__(self) -> None:
        self.seen: list[ToolMessage | None] = []
        self.layer = Layer("watch", flow=self._flow)

    def _flow(self, request: Any) -> Flow[Any]:
        try:
            return (yield request)
        except Exception as error:
            self.seen.append(failed_message(request, error))
            raise


def raising(error: Exception) -> Any:
    @tool
    def leak(token: Annotated[str, InjectedState("token")]) -> str:  # noqa: ARG001
        """Leak."""
        raise error

    return leak


@pytest.mark.parametrize(
    "error",
    [OSError("tok-93f1-private is in /home/me/file.txt"), ToolExecutionError("no", tool_name="x")],
)
async def test_a_layer_learns_what_the_model_reads_of_a_failure(
    execute: Execute, error: Exception
) -> None:
    watch = Watch()

    (result,) = await execute([raising(error)], CALL, wraps=[watch.layer])

    assert watch.seen == [result.message]
    assert "private" not in result.message.text


@pytest.mark.parametrize(
    "error",
    [
        GraphInterrupt(),
        WouldBlockError("it waits"),
        InvalidUpdateError("no such key", owner="leak"),
        fatal(OSError("the end")),
    ],
)
async def test_a_layer_learns_of_no_text_where_the_error_ends_the_run(
    execute: Execute, error: Exception
) -> None:
    watch = Watch()

    with pytest.raises(type(error)):
        await execute([raising(error)], CALL, wraps=[watch.layer])

    assert watch.seen == [None]


async def test_a_layer_learns_of_no_text_where_failures_are_raised(execute: Execute) -> None:
    watch = Watch()
    changed = Layer("change", change=lambda r: r.override(tool_call={**r.tool_call, "id": "c2"}))

    with pytest.raises(OSError, match="full"):
        await execute(
            [raising(OSError("full"))],
            CALL,
            wraps=[changed, watch.layer],
            policy=ToolPolicy(on_error="raise"),
        )

    assert watch.seen == [None]
