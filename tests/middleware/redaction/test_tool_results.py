from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, Overwrite

from interlock.middleware.redaction import Redactor
from interlock.middleware.redaction.tool_results import WITHHELD, ToolResults
from interlock.state.errors import ConfigurationError
from interlock.state.guardrail_errors import PIIDetectionError

Make = Callable[..., Redactor]


def request(**args: Any) -> ToolCallRequest:
    call: Any = {"name": "t", "args": args, "id": "c1", "type": "tool_call"}
    state = {"pii_vault": {"<email:0123456789ab>": "kim@x.org"}}
    return ToolCallRequest(tool_call=call, tool=None, state=state, runtime=None)  # type: ignore[arg-type]


def result(content: Any, **fields: Any) -> ToolMessage:
    return ToolMessage(content, tool_call_id="c1", name="t", **fields)


def giving(answer: Any) -> Callable[[Any], Any]:
    """The next layer, which gives this."""

    def layer(_request: Any) -> Any:
        return answer

    return layer


def test_command_keeps_all_but_the_texts_of_its_messages(redactor: Make) -> None:
    layer = ToolResults(redactor(), covers=True, restores=False)
    command: Command[Any] = Command(update={"messages": [result("a@b.co")], "n": 1}, goto="x")

    new = layer.wrap_tool_call(request(), giving(command))

    assert new.update["messages"][0].content == "[REDACTED_EMAIL]"
    assert (new.update["n"], new.goto) == (1, "x")


@pytest.mark.parametrize(
    "update",
    [
        [("n", 1), ("messages", [result("a@b.co")])],
        [("messages", result("a@b.co")), ("messages", [result("c@b.co")])],
        {"messages": Overwrite([result("a@b.co")])},
    ],
)
def test_no_notation_of_a_command_escapes(redactor: Make, update: Any) -> None:
    layer = ToolResults(redactor(), covers=True, restores=False)
    new = layer.wrap_tool_call(request(), giving(Command(update=update)))
    assert "@b.co" not in repr(new)
    assert "[REDACTED_EMAIL]" in repr(new)
    assert len(new.update) == len(update)


def test_result_that_is_not_covered_is_left(redactor: Make) -> None:
    layer = ToolResults(redactor(), covers=False, restores=True)

    assert layer.wrap_tool_call(request(), giving(result("a@b.co"))).content == "a@b.co"


def test_new_tokens_are_kept_with_the_result(redactor: Make) -> None:
    layer = ToolResults(redactor("email", "token"), covers=True, restores=True)

    command, message = layer.wrap_tool_call(request(), giving(result("a@b.co")))

    assert command.update == {"pii_vault": {message.content: "a@b.co"}}


@pytest.mark.parametrize(
    ("restores", "expected"),
    [
        (True, "kim@x.org"),
        (False, "<email:0123456789ab>"),
        (["t"], "kim@x.org"),
        (["u"], "<email:0123456789ab>"),
    ],
)
def test_arguments_get_their_values_back_where_it_is_allowed(
    redactor: Make, restores: Any, expected: str
) -> None:
    seen: list[Any] = []
    layer = ToolResults(redactor("email", "token"), covers=False, restores=restores)

    def handler(given: ToolCallRequest) -> ToolMessage:
        seen.append(given.tool_call)
        return result("")

    layer.wrap_tool_call(request(to="<email:0123456789ab>"), handler)

    assert seen[0]["args"] == {"to": expected}


def test_blocked_result_is_withheld_and_ends_the_run_once(redactor: Make) -> None:
    layer = ToolResults(redactor("email", "block"), covers=True, restores=False)
    message = layer.wrap_tool_call(request(), giving(result("a@b.co")))

    assert "a@b.co" not in repr(message)
    assert message.additional_kwargs[WITHHELD] == {"type": "email", "count": 1}
    with pytest.raises(PIIDetectionError):
        layer.refuse_withheld({"messages": [AIMessage(""), message]}, None)
    layer.refuse_withheld({"messages": [message, HumanMessage("go on"), AIMessage("")]}, None)


@pytest.mark.parametrize("text", ["plain", "a@b.co"])
def test_failure_keeps_its_type_and_says_nothing_sensitive(redactor: Make, text: str) -> None:
    layer = ToolResults(redactor(), covers=True, restores=False)

    def fail(_request: Any) -> Any:
        raise KeyError(text)

    with pytest.raises(KeyError) as caught:
        layer.wrap_tool_call(request(), fail)
    assert caught.value.args == (text.replace("a@b.co", "[REDACTED_EMAIL]"),)


def test_interrupt_of_a_tool_passes(redactor: Make) -> None:
    def pause(_request: Any) -> Any:
        raise GraphInterrupt

    with pytest.raises(GraphInterrupt):
        ToolResults(redactor(), covers=True, restores=False).wrap_tool_call(request(), pause)


def test_text_instead_of_a_list_of_tools_is_refused(redactor: Make) -> None:
    with pytest.raises(ConfigurationError, match="restore_tools"):
        ToolResults(redactor(), covers=True, restores="send")
