"""The arguments of the tools by which agents reach each other."""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.tools import InjectedToolArg
from pydantic import BaseModel, create_model

TASK = "task"
"""The argument that becomes the message to the other agent."""


class Nothing(BaseModel):
    """No arguments."""


def callable_without(schema: type[BaseModel]) -> type[BaseModel]:
    """The schema; one without fields gets a hidden one.

    langchain-core 1.8 calls the function of a tool without fields without the run's arguments.
    """
    if schema.model_fields:
        return schema
    hidden: Any = (Annotated[Any, InjectedToolArg], None)
    return create_model(schema.__name__, __base__=schema, __doc__=schema.__doc__, runtime=hidden)
