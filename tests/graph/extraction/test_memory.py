from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.graph import extract

pytestmark = pytest.mark.slow  # reads a job's worth of records in a process


@pytest.mark.parametrize("name", ["job.sqlite", "out.jsonl"])
def test_memory_does_not_grow_with_the_records(
    reader: Callable[[Callable[[str], Any]], Any], tmp_path: Path, name: str
) -> None:
    def peak(count: int) -> int:
        rows = (f"{n}" for n in range(count))
        path = tmp_path / f"{count}-{name}"
        tracemalloc.start()
        for _ in extract(reader(lambda text: f'{{"value": {text}}}'), int, rows, resume=path):
            pass
        (_, highest) = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    peak(50)  # what is imported and cached once
    # The lower of two: threads of other tests are counted too.
    assert min(peak(1_500), peak(1_501)) < peak(150) + 250_000
