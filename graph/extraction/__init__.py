"""Extraction in bulk: the parts of a job, each pure or with one file of its own.

A job reads :class:`Record` objects one at a time, turns each into an :class:`Extraction` by the
flow :func:`extract_record`, keeps it in a :class:`JobStore` or a :class:`JsonLines` file, and
gives results in order through a :class:`Window`. What runs the flows side by side is not here.

>>> from langchain_core.messages import AIMessage
>>> from langchain_core.runnables import RunnableLambda
>>> from interlock.graph.structured_output import OutputPlan
>>> from interlock.middleware.flows import drive
>>> model = RunnableLambda(lambda messages: AIMessage('{"value": 42}'))
>>> output = OutputPlan.from_response_format(int).resolve(int, "a-model")
>>> (record,) = read_records(["It is forty-two."])
>>> drive(extract_record(record, Extractor(model, output)), print).value
42
"""

from __future__ import annotations

from .job_store import JobStore
from .json_lines import JsonLines
from .rate_limit import RateLimit
from .record import Record, read_records
from .record_flow import Extractor, ends_the_job, extract_record
from .result import Extraction
from .totals import Totals
from .window import Window

__all__ = [
    "Extraction",
    "Extractor",
    "JobStore",
    "JsonLines",
    "RateLimit",
    "Record",
    "Totals",
    "Window",
    "ends_the_job",
    "extract_record",
    "read_records",
]
