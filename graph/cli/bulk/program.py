"""One job from the command line: from its settings to an exit code."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, cast

import anyio
from langchain_core.language_models import BaseChatModel

from ....state.errors import ConfigurationError, InterlockError
from ...extraction import (
    AsyncExtractions,
    ExtractSettings,
    Record,
    Totals,
    aextract,
    ends_the_job,
)
from ...extraction.input_files import Form, InputFiles
from ...extraction.record_flow import INSTRUCTIONS
from ...models.registry import chat_model
from .named_schema import named_schema
from .places import LinesOut, Places, TableOut
from .preview import show_preview
from .progress import shown_on

EXTRACTED, FAILED, REJECTED, STOPPED = 0, 1, 3, 130
"""Exit codes: all is extracted; the job ended with an error; it is done, but some records were
rejected; somebody stopped it."""


@dataclass(frozen=True, kw_only=True)
class BulkSettings:
    """What the command was given."""

    schema: str
    model: str
    inputs: list[str]
    output: Path | None = None
    rejects: Path | None = None
    resume: bool = False
    dry_run: bool = False
    form: str | None = None
    columns: list[str] | None = None
    key: str | None = None
    limit: int | None = None
    instructions: str | None = None
    concurrency: int = 8
    max_retries: int = 2
    timeout_s: float | None = None
    rate_limit: float | None = None
    base_url: str | None = None


def run_bulk(settings: BulkSettings) -> int:
    """Run a job and give its exit code.

    Raises:
        InterlockError: Settings or input cannot be used, or a file, or every record would fail.
    """
    schema = named_schema(settings.schema)
    files = InputFiles(
        settings.inputs, cast("Form | None", settings.form), settings.columns or (), settings.key
    )
    places = Places(settings.output, settings.rejects)
    if settings.dry_run:
        prompt = INSTRUCTIONS if settings.instructions is None else settings.instructions
        show_preview(sys.stdout, settings.model, schema, prompt, next(iter(files), None))
        return EXTRACTED
    if settings.resume and places.job is None:
        msg = "--resume goes on with a file; name it by --output."
        raise ConfigurationError(msg)
    if not settings.resume:
        places.check_free()
    # Before anything is paid for: a broken row at the end is told at the beginning.
    records = sum(1 for _ in _limited(files, settings)) if files.are_rereadable else None
    at = {} if settings.base_url is None else {"base_url": settings.base_url}
    model = chat_model(model=settings.model, **at)
    try:
        return anyio.run(partial(_run, model, schema, files, places, settings, records))
    except KeyboardInterrupt:
        hint = " Go on with --resume." if places.job is not None else ""
        sys.stderr.write(f"Stopped.{hint}\n")
        return STOPPED
    except InterlockError:
        raise
    except Exception as error:
        if not ends_the_job(error):
            raise
        sys.stderr.write(f"{error}\n")
        return FAILED
    finally:
        places.tidy()
        if close := getattr(model, "close", None):
            close()


async def _run(
    model: BaseChatModel,
    schema: Any,
    files: InputFiles,
    places: Places,
    settings: BulkSettings,
    records: int | None,
) -> int:
    options = ExtractSettings(
        instructions=settings.instructions,
        concurrency=settings.concurrency,
        max_retries=settings.max_retries,
        timeout_s=settings.timeout_s,
        rate_limit=settings.rate_limit,
        resume=places.job,
        rejects=places.rejects,
        # Lines are written by the job as they come; all else is written here, in order.
        ordered=places.output is None or places.is_table,
    )
    began = time.monotonic()
    progress = shown_on(sys.stderr, records)
    options["on_progress"] = progress.update
    results = aextract(model, schema, _limited(files, settings), **options)
    try:
        await _write(results, places)
    finally:
        progress.close()
    totals = results.totals
    sys.stderr.write(_summary(totals, time.monotonic() - began, places) + "\n")
    return REJECTED if totals.rejected else EXTRACTED


async def _write(results: AsyncExtractions[Any], places: Places) -> None:
    out: LinesOut | TableOut | None = None
    if places.output is None:
        out = LinesOut(sys.stdout)
    elif places.is_table:
        out = TableOut(places.output, results.specs)
    try:
        async with results:
            async for result in results:
                if out is not None:
                    out.add(result)
        if out is not None:
            out.finish()
    except BaseException:
        if out is not None:
            out.give_up()
        raise


def _limited(files: InputFiles, settings: BulkSettings) -> Iterable[Record]:
    return islice(files, settings.limit)


def _summary(totals: Totals, elapsed_s: float, places: Places) -> str:
    where = f" ({places.rejects})" if totals.rejected and places.rejects is not None else ""
    resumed = f", {totals.resumed:,} of them before" if totals.resumed else ""
    tokens = totals.usage.get("total_tokens", 0)
    return (
        f"Extracted {totals.extracted:,}, rejected {totals.rejected:,}{where}{resumed}; "
        f"{totals.attempts:,} requests, {tokens:,} tokens, {elapsed_s:.1f} s."
    )
