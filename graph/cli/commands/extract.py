"""``interlock extract``: an object of a schema from each of many texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_Inputs = Annotated[
    list[str], typer.Argument(help="Texts, JSON lines or CSV files; - is standard input.")
]
_Schema = Annotated[
    str, typer.Option(help="As package.module:Name, imported here, or as schema.json.")
]
_Model = Annotated[
    str, typer.Option(help="Chat model as provider:name; the embedded one needs no key.")
]
_Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="A .jsonl, .csv, .tsv or .parquet file.", dir_okay=False),
]
_Rejects = Annotated[
    Path | None, typer.Option(help="A .jsonl file for what failed.", dir_okay=False)
]
_Resume = Annotated[bool, typer.Option("--resume", help="Go on with the output.")]
_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show schema, prompt and first record, and stop.")
]
_Form = Annotated[
    str | None, typer.Option("--format", help="Of the input: text, lines, jsonl or csv.")
]
_Columns = Annotated[
    list[str] | None, typer.Option("--column", help="Column for the model; may be repeated.")
]
_Key = Annotated[str | None, typer.Option(help="Column with the keys of the records.")]
_Limit = Annotated[int | None, typer.Option(min=1, help="Only so many records.")]
_Instructions = Annotated[str | None, typer.Option(help="System prompt.")]
_Concurrency = Annotated[int, typer.Option(min=1, help="Records at a time.")]
_Retries = Annotated[int, typer.Option(min=0, help="Further attempts for a record.")]
_Timeout = Annotated[float | None, typer.Option(help="Seconds for a record.")]
_Rate = Annotated[float | None, typer.Option(help="Requests per minute.")]
_BaseUrl = Annotated[str | None, typer.Option(help="Address of the provider's API.")]


def extract(
    *,
    inputs: _Inputs,
    schema: _Schema,
    model: _Model = "embedded:needle3",
    output: _Output = None,
    rejects: _Rejects = None,
    resume: _Resume = False,
    dry_run: _DryRun = False,
    form: _Form = None,
    columns: _Columns = None,
    key: _Key = None,
    limit: _Limit = None,
    instructions: _Instructions = None,
    concurrency: _Concurrency = 8,
    max_retries: _Retries = 2,
    timeout: _Timeout = None,
    rate_limit: _Rate = None,
    base_url: _BaseUrl = None,
) -> None:
    """Extract an object of a schema from each of many texts.

    Results are kept as they come: a job that was stopped, whatever stopped it, goes on with
    --resume. A table is written when all is done; until then, and for later, its results are in a
    file beside it, out.csv.job for out.csv. Without --output they go to standard output.

    Exit codes: 0 all is extracted, 1 the job failed, 2 wrong arguments, 3 some records were
    rejected, 130 stopped. Variables are read from a .env file in the current folder.
    """
    from ..bulk import BulkSettings, run_bulk  # noqa: PLC0415 - `--help` does not need it
    from ..talk import read_dotenv  # noqa: PLC0415

    read_dotenv(Path.cwd())
    settings = BulkSettings(
        schema=schema,
        model=model,
        inputs=inputs,
        output=output,
        rejects=rejects,
        resume=resume,
        dry_run=dry_run,
        form=form,
        columns=columns,
        key=key,
        limit=limit,
        instructions=instructions,
        concurrency=concurrency,
        max_retries=max_retries,
        timeout_s=timeout,
        rate_limit=rate_limit,
        base_url=base_url,
    )
    raise typer.Exit(run_bulk(settings))
