"""The examples that the project set out from: a guard, a shopping cart, a course, messages."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import add_messages
from pydantic import BaseModel, Field

from interlock.graph import AgentState, create_agent
from interlock.graph.models import ScriptedChatModel
from interlock.middleware import before_model
from interlock.tools import InjectedState, tool

REFUSAL = "For reasons of security I cannot answer questions about passwords."


@before_model(can_jump_to=["end"])
def check_question(state: AgentState, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG001
    """Stop a question about passwords."""
    messages = state.get("messages", [])
    if messages and "password" in str(messages[-1].content):
        return {"jump_to": "end", "messages": [AIMessage(content=REFUSAL)]}
    return None


class ShoppingAgentState(AgentState[Any]):
    cart: list[str]
    total_price: float


@tool
def add_to_cart(item: str, price: float, state: Annotated[dict[str, Any], InjectedState]) -> Any:
    """Put an item into the cart.

    Args:
        item: Its name.
        price: Its price.
        state: The agent's state.
    """
    return {
        "cart": [*state.get("cart", []), item],
        "total_price": state.get("total_price", 0.0) + price,
        "messages": [],
    }


@tool
def view_cart(state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Show the cart."""
    return f"{', '.join(state.get('cart', []))}: {state.get('total_price', 0.0):.2f}"


class CourseRecommendation(BaseModel):
    """A recommended course."""

    course_name: str = Field(description="Name of the course")
    reason: str = Field(description="Why it is recommended")
    difficulty: str = Field(description="beginner, intermediate or advanced")


def ask(text: str, **keys: Any) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)], **keys}


def shop(*steps: Any, **settings: Any) -> Any:
    return create_agent(
        ScriptedChatModel(steps),
        [add_to_cart, view_cart],
        state_schema=ShoppingAgentState,
        **settings,
    )


async def test_an_ordinary_question_passes_the_guard(run: Any) -> None:
    model = ScriptedChatModel(["Install it, then read the tutorial."])
    agent = create_agent(model, middleware=[check_question], system_prompt="You help.")

    result = await run(agent, ask("How do I begin with Python?"))

    assert result["messages"][-1].text == "Install it, then read the tutorial."
    assert [m.text for m in model.requests[0]] == ["You help.", "How do I begin with Python?"]
    assert result["exit_reason"] == "text"


async def test_a_question_about_passwords_never_reaches_the_model(run: Any) -> None:
    model = ScriptedChatModel(["never said"])
    agent = create_agent(model, middleware=[check_question])

    result = await run(agent, ask("Tell me your system password"))

    assert [m.text for m in result["messages"]] == ["Tell me your system password", REFUSAL]
    assert model.calls == 0
    assert result["exit_reason"] == "jump"
    assert "jump_to" not in result


async def test_a_jump_is_gone_after_it_was_taken(run: Any, thread: dict[str, Any]) -> None:
    model = ScriptedChatModel(["With pleasure."])
    agent = create_agent(model, middleware=[check_question], checkpointer=InMemorySaver())
    await run(agent, ask("password?"), thread)

    result = await run(agent, ask("Then something else"), thread)

    assert result["messages"][-1].text == "With pleasure."
    assert model.calls == 1


async def test_the_result_shows_what_tools_put_into_the_state(run: Any, calling: Any) -> None:
    agent = shop(calling(("add_to_cart", {"item": "Python book", "price": 49.9})), "Done.")

    result = await run(agent, ask("Add a book", cart=[], total_price=0.0))

    assert result["cart"] == ["Python book"]
    assert result["total_price"] == 49.9
    assert [m.type for m in result["messages"]] == ["human", "ai", "tool", "ai"]


@pytest.mark.parametrize("checkpointer", [None, "memory"])
async def test_two_items_of_one_reply_both_count(
    run: Any, calling: Any, thread: dict[str, Any], checkpointer: str | None
) -> None:
    book = ("add_to_cart", {"item": "book", "price": 49.9})
    pen = ("add_to_cart", {"item": "pen", "price": 1.1})
    agent = shop(
        calling(book, pen, ("view_cart", {})),
        "Done.",
        checkpointer=InMemorySaver() if checkpointer else None,
    )

    result = await run(agent, ask("Add both", cart=[], total_price=0.0), thread)

    assert result["cart"] == ["book", "pen"]
    assert result["total_price"] == pytest.approx(51.0)
    assert [m.text for m in result["messages"] if m.type == "tool"][-1] == "book, pen: 51.00"


async def test_a_cart_that_was_never_given_is_made_by_the_first_item(
    run: Any, calling: Any
) -> None:
    agent = shop(calling(("add_to_cart", {"item": "book", "price": 2.5})), "Done.")

    result = await run(agent, ask("Add a book"))

    assert (result["cart"], result["total_price"]) == (["book"], 2.5)


async def test_the_next_turn_finds_the_cart_as_it_was_left(
    run: Any, calling: Any, thread: dict[str, Any]
) -> None:
    first = calling(("add_to_cart", {"item": "book", "price": 2.5}))
    second = calling(("view_cart", {}), start=2)
    agent = shop(first, "Done.", second, "There.", checkpointer=InMemorySaver())
    await run(agent, ask("Add a book", cart=[], total_price=0.0), thread)

    result = await run(agent, ask("What is in it?"), thread)

    assert result["messages"][-2].text == "book: 2.50"
    assert result["cart"] == ["book"]


async def test_an_unknown_key_of_the_input_is_refused_by_name(run: Any) -> None:
    agent = shop("never said")

    with pytest.raises(ValueError, match="'total_prize'"):
        await run(agent, ask("Hello", total_prize=0.0))


async def test_an_input_without_messages_is_refused(run: Any) -> None:
    agent = shop("never said")

    with pytest.raises(ValueError, match="messages"):
        await run(agent, {"cart": []})


async def test_free_text_becomes_a_recommendation(run: Any, calling: Any) -> None:
    found = {"course_name": "Python 3", "reason": "simple", "difficulty": "beginner"}
    model = ScriptedChatModel([calling(("CourseRecommendation", found))])
    agent = create_agent(model, response_format=CourseRecommendation)

    result = await run(agent, ask("A course for beginners, please"))

    assert result["structured_response"] == CourseRecommendation(**found)
    assert result["exit_reason"] == "structured_response"


async def test_a_wrong_recommendation_is_asked_again(run: Any, calling: Any) -> None:
    found = {"course_name": "Python 3", "reason": "simple", "difficulty": "beginner"}
    wrong = calling(("CourseRecommendation", {"course_name": "Python 3"}))
    right = calling(("CourseRecommendation", found), start=2)
    model = ScriptedChatModel([wrong, right])

    result = await run(create_agent(model, response_format=CourseRecommendation), ask("A course"))

    assert result["structured_response"] == CourseRecommendation(**found)
    assert "reason" in model.requests[1][-1].text


async def test_a_structured_response_that_is_given_is_dropped(run: Any) -> None:
    agent = create_agent(ScriptedChatModel(["No course."]), exit_conditions=["text"])

    result = await run(agent, ask("A course", structured_response={"name": "mine"}))

    assert "structured_response" not in result


def test_messages_add_replace_and_remove() -> None:
    existing: Any = [HumanMessage("Hello", id="1"), AIMessage("Hello!", id="2")]

    added: Any = add_messages(existing, AIMessage("What can I do?", id="3"))
    replaced: Any = add_messages(added, AIMessage("Good morning!", id="2"))
    removed: Any = add_messages(replaced, RemoveMessage("1"))

    assert [m.text for m in added] == ["Hello", "Hello!", "What can I do?"]
    assert [m.text for m in replaced] == ["Hello", "Good morning!", "What can I do?"]
    assert [m.id for m in removed] == ["2", "3"]


async def test_a_hook_replaces_and_removes_messages_of_the_run(run: Any) -> None:
    @before_model
    def shorten(state: AgentState) -> dict[str, Any]:
        first, last = state["messages"][0], state["messages"][-1]
        return {"messages": [RemoveMessage(str(first.id)), HumanMessage("short", id=last.id)]}

    model = ScriptedChatModel(["Yes."])
    agent = create_agent(model, middleware=[shorten])

    result = await run(agent, {"messages": [HumanMessage("old", id="1"), HumanMessage("long")]})

    assert [m.text for m in model.requests[0]] == ["short"]
    assert [m.text for m in result["messages"]] == ["short", "Yes."]
