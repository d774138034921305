"""A shopping cart in the agent's state, changed by tools."""

from __future__ import annotations

from math import isclose
from typing import Annotated, Any

from langchain_core.language_models import BaseChatModel
from langgraph.checkpoint.memory import InMemorySaver

from ....state.schema import AgentState
from ....tools import InjectedState, tool
from ...agent import create_agent
from ...compiled import AgentGraph
from .stage import Stage

TITLE = "A shopping cart in the state"
WHAT_FOR = "Tools that return state keys; the result of the run and the next turn show them."


ITEMS = {"Python textbook": 49.9, "notebook": 5.5}
"""Prices of what is bought."""


class ShoppingState(AgentState[Any]):
    """What a shopping assistant keeps besides the conversation."""

    cart: list[str]
    total_price: float


@tool
def add_to_cart(
    item: str, price: float, state: Annotated[dict[str, Any], InjectedState]
) -> dict[str, Any]:
    """Add an item to the shopping cart.

    Args:
        item: Name of the item.
        price: Price of the item.
        state: Filled in by the agent; the model does not see it.
    """
    return {"cart": [*state["cart"], item], "total_price": state["total_price"] + price}


@tool
def view_cart(state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Show what is in the shopping cart."""
    if not state["cart"]:
        return "The cart is empty"
    return f"In the cart: {', '.join(state['cart'])}, in all {state['total_price']:.2f}"


def build(model: BaseChatModel) -> AgentGraph:
    """A shopping assistant that keeps its threads."""
    return create_agent(
        model,
        [add_to_cart, view_cart],
        state_schema=ShoppingState,
        checkpointer=InMemorySaver(),
        name="shop",
    )


def show(stage: Stage) -> None:
    """Fill the cart by two calls of one reply, then look into it in another turn."""
    agent = build(stage.model)
    thread = {"configurable": {"thread_id": "shopping"}}
    result = stage.ask(
        agent,
        f"Add {' and '.join(f'a {item} for {price}' for item, price in ITEMS.items())} to my cart",
        config=thread,
        cart=[],
        total_price=0.0,
    )
    ran = [event for event in stage.log.events if event == "tool add_to_cart"]
    stage.claim("add_to_cart ran for each item", holds=len(ran) == len(ITEMS))
    stage.claim(
        f"the result shows the cart: {result['cart']}",
        holds=[item.lower() for item in result["cart"]] == [item.lower() for item in ITEMS],
    )
    stage.claim(
        f"and what all of it costs: {result['total_price']:.2f}",
        holds=isclose(result["total_price"], sum(ITEMS.values())),
    )
    result = stage.ask(agent, "What is in my cart?", config=thread)
    seen = [message.text for message in result["messages"] if message.type == "tool"][-1]
    stage.claim("the model called view_cart", holds="tool view_cart" in stage.log.events)
    stage.claim("the cart was kept between the turns", holds="in all 55.40" in seen)
