"""What a job would do, without doing it."""

from __future__ import annotations

import json
from typing import Any, TextIO

from ...extraction import Record
from ...structured_output import OutputPlan


def show_preview(
    stream: TextIO, model: str, schema: Any, instructions: str, first: Record | None
) -> None:
    """Print schema, prompt and first record.

    Raises:
        ConfigurationError: The schema cannot be used.
    """
    plan = OutputPlan.from_response_format(schema)
    schemas = [binding.spec.json_schema for binding in plan.bindings.values()]
    parts = [
        ("model", model),
        *(("schema", json.dumps(shape, ensure_ascii=False, indent=2)) for shape in schemas),
        ("system", instructions or "(none)"),
        ("first record", "(there is none)" if first is None else f"{first.key}\n{first.text}"),
    ]
    stream.writelines(f"--- {title}\n{text}\n" for title, text in parts)
