"""What a tool is given: checked arguments, and injected ones that the model never sees."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import pytest
from langchain_core.tools import tool
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel, Field

from interlock.tools import (
    InjectedState,
    InjectedStore,
    InjectedToolCallId,
    ToolRuntime,
)
from interlock.tools.results import CallResult

Execute = Callable[..., Awaitable[list[CallResult]]]


def call(name: str, args: dict[str, Any], ident: str = "c1") -> Any:
    return {"name": name, "args": args, "id": ident, "type": "tool_call"}


@pytest.mark.parametrize("observed", [False, True])
async def test_injected_arguments_are_filled_in_and_never_offered(
    execute: Execute, observed: bool
) -> None:
    @tool
    def look(
        key: str,
        state: Annotated[dict[str, Any], InjectedState],
        cart: Annotated[list[str], InjectedState("cart")],
        store: Annotated[Any, InjectedStore()],
        ident: Annotated[str, InjectedToolCallId],
        runtime: ToolRuntime[Any, Any],
    ) -> str:
        """Look."""
        store.put(("a",), "k", {"v": 1})
        return f"{key}:{len(state)}:{cart}:{ident}:{runtime.tool_call_id}"

    forged: Any = {"key": "k", "state": {}, "cart": ["forged"], "ident": "forged", "runtime": 1}
    store = InMemoryStore()
    (result,) = await execute([look], call("look", forged), store=store, observed=observed)
    assert result.message.text == "k:3:['pen']:c1:c1"
    assert store.get(("a",), "k") is not None


async def test_a_missing_store_is_said(execute: Execute) -> None:
    @tool
    def look(store: Annotated[Any, InjectedStore()]) -> str:  # noqa: ARG001
        """Look."""
        return "x"

    (result,) = await execute([look], call("look", {}))
    assert "'look' needs a store" in result.message.text


class Bounds(BaseModel):
    amount: int = Field(ge=1, description="How much.")
    unit: str = "EUR"


@pytest.mark.parametrize("observed", [False, True])
async def test_arguments_are_checked_and_completed_by_the_schema(
    execute: Execute, observed: bool
) -> None:
    @tool(args_schema=Bounds)
    def pay(amount: int, unit: str, token: Annotated[str, InjectedState("token")]) -> str:
        """Pay."""
        return f"{amount} {unit} {len(token)}"

    bad, good = await execute(
        [pay], call("pay", {"amount": 0}), call("pay", {"amount": "2"}, "c2"), observed=observed
    )
    assert bad.message.status == "error"
    assert "amount" in bad.message.text
    assert "tok-93f1-private" not in bad.message.text
    assert good.message.text == "2 EUR 16"


async def test_an_unknown_tool_is_answered_with_the_known_ones(execute: Execute) -> None:
    @tool
    def give() -> str:
        """Give."""
        return "x"

    for name in ("__init__", "os.system", "../give", ""):
        (result,) = await execute([give], call(name, {}))
        assert result.message.status == "error"
        assert "give" in result.message.text
