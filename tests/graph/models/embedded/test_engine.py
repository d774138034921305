"""The real engine. Each request takes it a third of a second, so there are few."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from pydantic import BaseModel, Field

from interlock.graph import create_agent
from interlock.graph.models import EmbeddedChatModel
from interlock.graph.models.embedded.engine_files import engine_folder
from interlock.graph.models.embedded.worker import Worker, engine_command
from interlock.state.errors import ChatModelError

pytestmark = pytest.mark.slow  # starts the engine


@tool
def get_weather(city: str) -> str:
    """Get the current weather for a city."""
    return f"It is sunny in {city}, 21 degrees."


@tool
def add_to_cart(item: str, price: float) -> str:
    """Add an item to the shopping cart."""
    return f"Added {item} for {price:.2f}."


class Course(BaseModel):
    """A course recommended to a student."""

    course_name: str = Field(description="Name of the course")
    difficulty: Literal["beginner", "intermediate", "advanced"]


def calls(message: AIMessage) -> list[tuple[str, dict[str, Any]]]:
    return [(call["name"], call["args"]) for call in message.tool_calls]


def test_an_agent_calls_a_tool_and_gives_its_result(model: EmbeddedChatModel) -> None:
    agent = create_agent(model, [get_weather])
    messages = agent.invoke({"messages": [HumanMessage("What is the weather in Paris?")]})[
        "messages"
    ]
    assert calls(messages[1]) == [("get_weather", {"city": "Paris"})]
    assert messages[1].response_metadata["confidence"] > 0.5
    assert messages[1].response_metadata["reasoning"]
    assert messages[-1].text == "It is sunny in Paris, 21 degrees."


async def test_requests_at_once_share_the_processes(model: EmbeddedChatModel) -> None:
    weather, cart = model.bind_tools([get_weather]), model.bind_tools([add_to_cart])
    replies = await asyncio.gather(
        weather.ainvoke("What is the weather in Oslo and in Berlin?"),
        cart.ainvoke("Add a coffee for 3.50 to my cart."),
        weather.ainvoke("What is the weather in Rome?"),
    )
    assert [calls(reply) for reply in replies] == [
        [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Berlin"})],
        [("add_to_cart", {"item": "coffee", "price": 3.5})],
        [("get_weather", {"city": "Rome"})],
    ]


def test_a_request_no_tool_fits_is_answered_in_words(model: EmbeddedChatModel) -> None:
    reply = model.bind_tools([get_weather]).invoke("What is 2+2?")
    assert reply.tool_calls == []
    assert reply.text == reply.response_metadata["reasoning"] != ""


def test_a_record_is_extracted_from_text(model: EmbeddedChatModel) -> None:
    text = "Take the course 'Python for Data Science'. It starts from zero and is for beginners."
    course = model.with_structured_output(Course).invoke(text)
    assert course == Course(course_name="Python for Data Science", difficulty="beginner")


TRAP = """
import os, runpy, sys

def trap(event, args):
    if event.startswith("socket."):
        os._exit(77)

sys.addaudithook(trap)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def trapped(*program: str) -> list[str]:
    return [sys.executable, "-P", "-c", TRAP, *program]


def test_the_engine_opens_no_socket(model: EmbeddedChatModel) -> None:
    assert model.model == "needle3"
    *_, child, folder = engine_command(engine_folder())
    opening = {"tools": '[{"name": "now", "description": "Tell the time."}]', "facts": ""}
    worker = Worker(trapped(child, folder), opening, timeout_s=300)
    try:
        assert worker.tell(["What time is it?"], max_tokens=64)
        assert not [link for link in open_files(worker.pid) if link.startswith("socket:")]
    finally:
        worker.close()


def open_files(pid: int) -> list[str]:
    folder = Path(f"/proc/{pid}/fd")
    return [str(entry.readlink()) for entry in folder.iterdir()] if folder.exists() else []


def test_a_process_that_opens_a_socket_would_be_caught(tmp_path: Path) -> None:
    program = tmp_path / "caller.py"
    program.write_text("import socket\nsocket.socket()\n")
    assert subprocess.run(trapped(str(program)), check=False).returncode == 77
    with pytest.raises(ChatModelError, match="exit code 77"):
        Worker(trapped(str(program)), {}, timeout_s=30)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the names in an ELF file")
def test_the_native_code_has_no_name_of_a_socket_call(model: EmbeddedChatModel) -> None:
    assert model.model == "needle3"
    code = (engine_folder() / "needle" / "libneedle3.so").read_bytes()
    assert b"\0pthread_create\0" in code
    for name in (b"socket", b"connect", b"sendto", b"getaddrinfo"):
        assert b"\0" + name + b"\0" not in code
