"""`interlock extract`, from its arguments to its files and its exit code."""

from __future__ import annotations

import csv
import importlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from interlock.graph.cli.app import build_app
from interlock.state.errors import ConfigurationError, MissingExtraError

SCHEMA = {
    "title": "Order",
    "type": "object",
    "properties": {"item": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["item", "count"],
}
Command = Callable[..., Result]


class _Provider(BaseHTTPRequestHandler):
    """Reads "3 apples" as an order; knows no bananas, and no key named "wrong"."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = next(m["content"] for m in body["messages"] if m["role"] == "user")
        server: Any = self.server
        server.texts.append(text)
        count, _, item = text.partition(" ")
        order = "{}" if item == "bananas" else json.dumps({"item": item, "count": int(count)})
        call = {"id": "c", "type": "function", "function": {"name": "Order", "arguments": order}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
        choices = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
        self._send(server.status, {"id": "1", "model": "m", "choices": choices, "usage": usage})

    def _send(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def provider() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Provider)
    server.texts, server.status = [], 200
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def command(provider: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command in a folder of its own, with a schema and a provider."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("schema.json").write_text(json.dumps(SCHEMA))
    url = f"http://127.0.0.1:{provider.server_address[1]}/v1"

    def run(*arguments: str, stdin: str | None = None, model: str | None = None) -> Result:
        given = [] if "--schema" in arguments else ["--schema", "schema.json"]
        named = ["--model", model] if model else ["--model", "m", "--base-url", url]
        options = [*named, "--max-retries", "0"]
        return CliRunner().invoke(
            build_app(), ["extract", *arguments, *given, *options], input=stdin
        )

    return run


def rows(path: str) -> list[Any]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_texts_become_rows_with_their_names_as_keys(command: Command) -> None:
    Path("a.txt").write_text("3 apples")
    Path("b.eml").write_text("1 pear")
    result = command("a.txt", "b.eml", "-o", "out.jsonl")

    assert result.exit_code == 0
    found = {row["key"]: row["value"] for row in rows("out.jsonl")}
    assert found == {"a.txt": {"item": "apples", "count": 3}, "b.eml": {"item": "pear", "count": 1}}
    assert "Extracted 2, rejected 0; 2 requests, 24 tokens" in result.stderr
    assert sorted(path.name for path in Path().iterdir()) == [
        *("a.txt", "b.eml", "out.jsonl", "schema.json"),
    ]


def test_rejected_records_have_a_file_and_an_exit_code_of_their_own(command: Command) -> None:
    Path("in.jsonl").write_text('"3 apples"\n\n"2 bananas"\n')
    result = command("in.jsonl", "-o", "out.jsonl")

    assert result.exit_code == 3
    assert [row["key"] for row in rows("out.jsonl")] == ["in.jsonl:1"]
    assert [(r["key"], r["text"]) for r in rows("out.rejects.jsonl")] == [
        ("in.jsonl:3", "2 bananas")
    ]
    assert "rejected 1 (out.rejects.jsonl)" in result.stderr


def test_column_and_key_of_a_table_are_chosen_by_name(command: Command, provider: Any) -> None:
    Path("in.csv").write_text("\ufeffid;note;who\n7;3 apples;me\n8;1 pear;you\n")
    result = command("in.csv", "--column", "note", "--key", "id", "--limit", "1")

    assert result.exit_code == 0
    assert json.loads(result.stdout)["key"] == "7"
    assert provider.texts == ["3 apples"]


def test_standard_input_is_one_text_or_what_the_format_says(command: Command) -> None:
    whole = command("-", stdin="3 apples")
    lines = command("-", "--format", "lines", stdin="3 apples\n1 pear\n")

    assert json.loads(whole.stdout)["value"]["count"] == 3
    keys = [json.loads(line)["key"] for line in lines.stdout.splitlines()]
    assert keys == ["-:1", "-:2"]


def test_job_is_gone_on_with_only_when_told(command: Command, provider: Any) -> None:
    Path("in.jsonl").write_text('"3 apples"\n"2 bananas"\n"1 pear"\n')
    command("in.jsonl", "-o", "out.jsonl", "--limit", "2")
    refused = command("in.jsonl", "-o", "out.jsonl")
    resumed = command("in.jsonl", "-o", "out.jsonl", "--resume")

    assert (refused.exit_code, "--resume" in str(refused.exception)) == (1, True)
    assert resumed.exit_code == 3
    # The first two are asked about at the same time.
    assert sorted(provider.texts[:2]) == ["2 bananas", "3 apples"]
    assert provider.texts[2:] == ["1 pear"]
    assert "2 of them before" in resumed.stderr


def test_table_is_written_in_order_when_all_is_done(command: Command) -> None:
    Path("in.jsonl").write_text("".join(f'"{n} apples"\n' for n in range(20)))
    command("in.jsonl", "-o", "out.csv", "--limit", "5")
    result = command("in.jsonl", "-o", "out.csv", "--resume")

    assert result.exit_code == 0
    with Path("out.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["count"] for row in table] == [str(n) for n in range(20)]
    assert table[0] == {"_key": "in.jsonl:1", "item": "apples", "count": "0"}


def test_parquet_has_typed_columns(command: Command) -> None:
    pytest.importorskip("pyarrow")
    Path("in.txt").write_text("3 apples")
    command("in.txt", "-o", "out.parquet")

    table = importlib.import_module("pyarrow.parquet").read_table("out.parquet")
    assert table.to_pylist() == [{"_key": "in.txt", "item": "apples", "count": 3}]


def test_dry_run_shows_what_would_be_asked_and_asks_nothing(
    command: Command, provider: Any
) -> None:
    Path("in.txt").write_text("3 apples")
    result = command("in.txt", "--dry-run", "--instructions", "Read orders.", "-o", "out.jsonl")

    assert result.exit_code == 0
    assert all(part in result.stdout for part in ['"title": "Order"', "Read orders.", "3 apples"])
    assert (provider.texts, Path("out.jsonl").exists()) == ([], False)


def test_schema_is_imported_from_the_current_folder(command: Command) -> None:
    Path("orders_for_test.py").write_text(
        "from pydantic import BaseModel\nclass Order(BaseModel):\n    item: str\n    count: int = 5\n"
    )
    Path("in.txt").write_text("3 apples")
    result = command("in.txt", "--schema", "orders_for_test:Order")

    assert json.loads(result.stdout)["value"] == {"item": "apples", "count": 3}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["in.txt", "--schema", "nothing"], "no name of a schema"),
        (["in.txt", "--schema", "json:Nothing"], "has no 'Nothing'"),
        (["in.txt", "--schema", "absent.json"], "cannot be read"),
        (["in.txt", "-o", "out.doc"], "no known kind"),
        (["absent.txt"], "'absent.txt' cannot be read"),
        (["bad.txt"], "no text in UTF-8"),
        (["bad.jsonl"], "line 2 is no JSON"),
        (["bad.csv"], "row 1 has 3 cells"),
        (["in.csv", "--column", "c"], "no column 'c'; it has a, b"),
        (["in.txt", "--format", "pdf"], "No form 'pdf'"),
        (["in.txt", "--resume"], "name it by --output"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_asked(
    command: Command, provider: Any, arguments: list[str], words: str
) -> None:
    Path("in.txt").write_text("3 apples")
    Path("in.csv").write_text("a,b\n1,2\n")
    Path("bad.txt").write_bytes(b"\xff")
    Path("bad.jsonl").write_text('"3 apples"\n{\n')
    Path("bad.csv").write_text("a,b\n1,2,3\n")
    result = command(*arguments)

    assert result.exit_code == 1
    assert words in str(result.exception)
    assert provider.texts == []


def test_table_of_a_job_that_failed_is_not_left_half_written(
    command: Command, provider: Any
) -> None:
    provider.status = 401
    Path("in.txt").write_text("3 apples")
    failed = command("in.txt", "-o", "out.csv")
    provider.status = 200

    assert failed.exit_code == 1
    assert {path.name for path in Path().glob("out*")} == {"out.csv.job"}
    assert command("in.txt", "-o", "out.csv", "--resume").exit_code == 0
    assert "3" in Path("out.csv").read_text()


def test_parquet_without_pyarrow_is_told_before_anything_is_asked(
    command: Command, provider: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    Path("in.txt").write_text("3 apples")
    result = command("in.txt", "-o", "out.parquet")

    assert isinstance(result.exception, MissingExtraError)
    assert provider.texts == []
    assert list(Path().glob("out*")) == []


def test_dry_run_shows_the_first_record_as_the_model_would_get_it(command: Command) -> None:
    Path("in.csv").write_text("id,note,who\n7,3 apples,me\n8,1 pear,you\n")
    chosen = command("in.csv", "--dry-run", "--column", "note", "--column", "who", "--key", "id")
    Path("empty.jsonl").write_text("")

    assert '--- first record\n7\n{"note": "3 apples", "who": "me"}\n' in chosen.stdout
    assert "--- model\nm\n" in chosen.stdout
    assert "(there is none)" in command("empty.jsonl", "--dry-run").stdout


def test_dry_run_refuses_a_schema_that_cannot_be_used(command: Command) -> None:
    Path("schema.json").write_text('{"title": "Order", "type": "object", "properties": 5}')
    Path("in.txt").write_text("3 apples")
    result = command("in.txt", "--dry-run")

    assert isinstance(result.exception, ConfigurationError)


def test_embedded_model_reads_two_records_without_a_key(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_spec("needle") is None:
        pytest.skip("the embedded model is not installed")
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    Path("in.jsonl").write_text('"Order of 3 desk lamps."\n"much too long %s"\n' % ("so " * 900))
    result = command("in.jsonl", "-o", "out.jsonl", model="embedded:needle3")

    assert result.exit_code == 3
    assert [row["value"]["count"] for row in rows("out.jsonl")] == [3]
    (rejected,) = rows("out.rejects.jsonl")
    assert rejected["error_type"] == "ChatModelContextOverflowError"


def test_wrong_key_ends_the_job_at_once(command: Command, provider: Any) -> None:
    provider.status = 401
    Path("in.jsonl").write_text('"3 apples"\n' * 50)
    result = command("in.jsonl", "-o", "out.jsonl", "--concurrency", "2")

    assert result.exit_code == 1
    assert len(provider.texts) <= 4
    assert rows("out.jsonl") == []
