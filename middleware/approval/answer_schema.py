"""The type that an answer must have: checked before the answer is stored, shown as a JSON schema.

langgraph checks an answer only against Python types, so the types are built here, one for each
question: the decisions that its tool allows, and for an edit the tool's own arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import isclass
from types import GenericAlias
from typing import Annotated, Any, Literal, Union, cast

from langchain_core.tools import BaseTool
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Tag,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    create_model,
    with_config,
)
from typing_extensions import TypedDict

from ...tools.schema_fit import first_problem
from .answer_text import text_problem
from .decision import (
    ApproveDecision,
    DecisionType,
    RejectDecision,
    RespondDecision,
)

_STRICT = ConfigDict(extra="forbid")
_PLAIN: Mapping[DecisionType, Any] = {
    "approve": ApproveDecision,
    "reject": RejectDecision,
    "respond": RespondDecision,
}


def decision_type(allowed: Sequence[DecisionType], tools: Mapping[str, BaseTool | None]) -> Any:
    """The type of one decision.

    Args:
        allowed: The decisions that may be made.
        tools: What an edit may run, by name; None where the tool's arguments are not known. The
            arguments are checked against what the model is told of them, so arguments that the
            run fills in need not be given.
    """
    return Annotated[_decision(allowed, tools), _AS_SENT]


def answer_type(
    questions: Sequence[tuple[str, Sequence[DecisionType], Mapping[str, BaseTool | None]]],
) -> Any:
    """The type of an answer to several questions at once.

    Args:
        questions: Call id, allowed decisions and tools of each question, in order.

    Returns:
        A type for ``{"decisions": [...]}`` with one decision per question, or
        ``{"decisions": {call_id: ...}}`` with at least one.
    """
    types: dict[str, Any] = {}
    made: dict[Any, Any] = {}
    for ident, allowed, tools in questions:
        # Many calls of one tool share one type: making it is what takes the time.
        key = (tuple(allowed), tuple(tools))
        if key not in made:
            made[key] = _decision(allowed, tools)
        types[ident] = made[key]
    in_order: Any = GenericAlias(tuple, tuple(types.values()))
    by_call: Any = _typed_dict("DecisionsByCall", types, total=False)
    decisions = Annotated[
        Union[  # noqa: UP007 - made of values
            Annotated[in_order, Tag("list")],
            Annotated[by_call, AfterValidator(_not_empty), Tag("by_call")],
        ],
        Discriminator(_form, custom_error_type="decisions_type", custom_error_message=_FORMS),
    ]
    return Annotated[_typed_dict("HITLResponse", {"decisions": decisions}), _AS_SENT]


_FORMS = "decisions must be a list with one decision per request, or an object by tool call id"


def _form(value: Any) -> str | None:
    if isinstance(value, (list, tuple)):
        return "list"
    return "by_call" if isinstance(value, dict) else None


def _not_empty(value: Any) -> Any:
    if not value:
        msg = "give at least one decision"
        raise ValueError(msg)
    return value


def _as_sent(answer: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """Check an answer and pass it on as it came: plain data, its arguments untouched."""
    check(answer)
    if (problem := text_problem(answer)) is not None:
        raise ValueError(problem)
    return answer


_AS_SENT = WrapValidator(_as_sent)


def _typed_dict(name: str, fields: Mapping[str, Any], *, total: bool = True) -> Any:
    """An object with these keys and no others."""
    # Keys that are only known at run time are what the functional form is for.
    make: Any = TypedDict
    return with_config(_STRICT)(make(name, dict(fields), total=total))


def _decision(allowed: Sequence[DecisionType], tools: Mapping[str, BaseTool | None]) -> Any:
    members = tuple(
        _edit(tools) if kind == "edit" else _PLAIN[kind] for kind in dict.fromkeys(allowed)
    )
    if len(members) == 1:
        return members[0]
    # Checked is only the branch that `type` names, so there is one error at the place of it.
    return Annotated[Union[members], Discriminator("type")]  # noqa: UP007


def _edit(tools: Mapping[str, BaseTool | None]) -> Any:
    """An edit that may run the given tools and no other."""
    actions = tuple(_action(name, tool) for name, tool in tools.items())
    action: Any = actions[0]
    if len(actions) > 1:
        action = Annotated[Union[actions], Discriminator("name")]  # noqa: UP007
    return create_model(
        "EditDecision",
        __config__=_STRICT,
        type=(_literal("edit"), ...),
        edited_action=(action, ...),
        message=(str, ""),
    )


def _action(name: str, tool: BaseTool | None) -> Any:
    return create_model(
        "EditedAction",
        __config__=_STRICT,
        name=(_literal(name), ...),
        args=(arguments_type(tool), ...),
    )


def _literal(word: str) -> Any:
    return Literal[word]


def arguments_type(tool: BaseTool | None) -> Any:
    """The type of a tool's arguments, as far as the model gives them."""
    schema: Any = tool.tool_call_schema if tool is not None else None
    if isclass(schema) and issubclass(schema, BaseModel):
        return schema
    if isinstance(schema, dict):
        shown = cast("dict[str, Any]", schema)
        return Annotated[dict[str, Any], AfterValidator(_fits(shown)), WithJsonSchema(shown)]
    return dict[str, Any]


def _fits(schema: Mapping[str, Any]) -> Any:
    """A validator for a tool whose arguments are described by a JSON schema."""

    def check(args: dict[str, Any]) -> dict[str, Any]:
        if (problem := first_problem(args, schema)) is not None:
            raise ValueError(problem)
        return args

    return check
