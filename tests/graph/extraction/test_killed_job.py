"""A job under SIGKILL against a provider that fails: nothing lost, nothing done twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # starts processes and kills them

RECORDS, IN_FLIGHT = 400, 16

PROGRAM = """
import sys
import anyio
from pydantic import BaseModel
from interlock.graph import aextract, extract
from interlock.graph.models import OpenAICompatibleChatModel
from interlock.middleware.retrying import RetryPolicy

class Number(BaseModel):
    n: int

url, resume, rejects, style, records, in_flight = sys.argv[1:]
model = OpenAICompatibleChatModel(model="m", base_url=url, max_retries=0)
texts = (f"The number is {n}" for n in range(int(records)))
settings = dict(
    concurrency=int(in_flight), ordered=False, resume=resume, rejects=rejects,
    retry=RetryPolicy(max_retries=2, initial_delay=0),
)

async def run():
    async for result in aextract(model, Number, texts, **settings):
        print(result.record.key, result.value.n, flush=True)

if style == "aextract":
    anyio.run(run)
else:
    for result in extract(model, Number, texts, **settings):
        print(result.record.key, result.value.n, flush=True)
"""


def begin(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-P", "-c", PROGRAM, *map(str, arguments), str(RECORDS)]
    return subprocess.Popen([*command, str(IN_FLIGHT)], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("style", "name"), [("extract", "job.sqlite"), ("aextract", "out.jsonl")])
def test_killed_job_goes_on_where_it_stopped(
    faulty_server: Any, tmp_path: Path, style: str, name: str
) -> None:
    job, rejects = tmp_path / name, tmp_path / "rejects.jsonl"
    with begin(faulty_server.url, job, rejects, style) as first:
        assert first.stdout is not None
        for _ in range(int(0.4 * RECORDS)):
            first.stdout.readline()
        first.send_signal(signal.SIGKILL)
    before = set(faulty_server.asked)
    faulty_server.asked.clear()
    with begin(faulty_server.url, job, rejects, style) as second:
        told = dict(map(str.split, second.stdout or ()))

    assert second.returncode == 0
    assert all(key == value for key, value in told.items())
    rejected = [json.loads(line)["key"] for line in rejects.read_text().splitlines()]
    assert sorted([*told, *rejected], key=int) == [str(n) for n in range(RECORDS)]
    if name.endswith(".jsonl"):
        kept = [json.loads(line)["key"] for line in job.read_text().splitlines()]
        assert sorted(kept) == sorted(told)
    assert len(before & set(faulty_server.asked)) <= IN_FLIGHT
