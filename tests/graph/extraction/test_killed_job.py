"""A job under SIGKILL against a provider that fails: nothing lost, nothing done twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from interlock.graph import extract
from interlock.graph.models import OpenAICompatibleChatModel
from interlock.middleware.retrying import RetryPolicy

pytestmark = pytest.mark.slow  # starts processes and kills them

RECORDS, IN_FLIGHT = 200, 8

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
        print(result.record.key, flush=True)

if style == "aextract":
    anyio.run(run)
else:
    for result in extract(model, Number, texts, **settings):
        print(result.record.key, flush=True)
"""


class Number(BaseModel):
    n: int


def kill_in_the_middle(*arguments: object) -> None:
    """Run a job in a process of its own and kill it when 40 % of its results are there."""
    command = [sys.executable, "-P", "-c", PROGRAM, *map(str, arguments), str(RECORDS)]
    with subprocess.Popen([*command, str(IN_FLIGHT)], stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout is not None
        for _ in range(int(0.4 * RECORDS)):
            job.stdout.readline()
        job.send_signal(signal.SIGKILL)
    assert job.returncode == -signal.SIGKILL


def go_on(url: str, job: Path, rejects: Path) -> dict[str, int]:
    """Run the same job again; the number from each record."""
    model = OpenAICompatibleChatModel(model="m", base_url=url, max_retries=0)
    texts = (f"The number is {n}" for n in range(RECORDS))
    retry = RetryPolicy(max_retries=2, initial_delay=0)
    with extract(
        model, Number, texts, concurrency=IN_FLIGHT, resume=job, rejects=rejects, retry=retry
    ) as results:
        told = {r.record.key: r.value.n for r in results if r.value is not None}
    model.close()
    return told


@pytest.mark.parametrize(("style", "name"), [("extract", "job.sqlite"), ("aextract", "out.jsonl")])
def test_killed_job_goes_on_where_it_stopped(
    faulty_server: Any, tmp_path: Path, style: str, name: str
) -> None:
    job, rejects = tmp_path / name, tmp_path / "rejects.jsonl"
    kill_in_the_middle(faulty_server.url, job, rejects, style)
    before = set(faulty_server.asked)
    faulty_server.asked.clear()
    told = go_on(faulty_server.url, job, rejects)

    assert all(key == str(value) for key, value in told.items())
    rejected = [json.loads(line)["key"] for line in rejects.read_text().splitlines()]
    assert sorted([*told, *rejected], key=int) == [str(n) for n in range(RECORDS)]
    if name.endswith(".jsonl"):
        kept = [json.loads(line)["key"] for line in job.read_text().splitlines()]
        assert sorted(kept) == sorted(told)
    assert len(before & set(faulty_server.asked)) <= IN_FLIGHT
