"""Values against schemas that may come from anywhere."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from interlock.tools.schema_fit import first_problem


@pytest.mark.parametrize(
    ("value", "problem"),
    [({"a": 1}, None), ({"a": "x"}, "a: 'x' is not of type 'integer'"), ({}, "required property")],
)
def test_problem_is_told_with_its_place(value: Any, problem: str | None) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    found = first_problem(value, schema)
    assert found is None if problem is None else problem in str(found)


def test_what_a_schema_refers_to_is_never_fetched() -> None:
    asked: list[str] = []

    class Remote(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

    with HTTPServer(("127.0.0.1", 0), Remote) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        address = f"http://127.0.0.1:{server.server_port}/schema.json"
        found = [first_problem(1, {"$ref": ref}) for ref in (address, "file:///etc/passwd", "#/x")]
        server.shutdown()
    assert asked == []
    assert all("which is not in it" in str(problem) for problem in found)
