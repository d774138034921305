from __future__ import annotations

from typing import Any, Literal, Required, get_args, get_origin, get_type_hints

from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.graph.message import add_messages

from interlock.state import AgentState, PrivateStateAttr
from interlock.state.schema import JumpTo, OmitFromInput


def marks(key: str) -> tuple[Any, ...]:
    """What stands beside the type of a field."""
    hint = get_type_hints(AgentState, include_extras=True)[key]
    inner = hint if hasattr(hint, "__metadata__") else get_args(hint)[0]
    return tuple(inner.__metadata__)


def test_the_state_has_three_fields_of_which_messages_must_be_given() -> None:
    assert set(AgentState.__annotations__) == {"messages", "jump_to", "structured_response"}
    hints = get_type_hints(AgentState, include_extras=True)
    assert [key for key, hint in hints.items() if get_origin(hint) is Required] == ["messages"]


def test_messages_are_merged_by_id() -> None:
    assert marks("messages") == (add_messages,)


def test_a_jump_is_private_and_gone_after_a_step() -> None:
    assert marks("jump_to") == (EphemeralValue, PrivateStateAttr)
    assert get_origin(JumpTo) is Literal
    assert set(get_args(JumpTo)) == {"model", "tools", "end"}


def test_a_structured_answer_is_a_result_only() -> None:
    assert marks("structured_response") == (OmitFromInput,)


def test_each_field_is_described() -> None:
    words = AgentState.__doc__ or ""
    assert all(f"``{key}``" in words for key in AgentState.__annotations__)
