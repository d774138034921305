"""Extraction in bulk: :func:`extract`, and the parts of a job, each pure or with one file.

A job reads :class:`Record` objects one at a time, turns each into an :class:`Extraction` by the
flow :func:`extract_record`, keeps it in a :class:`JobStore` or a :class:`ResultFile`, and gives
results in order through a :class:`Window`. ``job`` runs the flows side by side, in a synchronous
or an asynchronous run alike.
"""

from __future__ import annotations

from .extractions import AsyncExtractions, Extractions, aextract, extract
from .job_store import JobStore
from .json_lines import JsonLines
from .rate_limit import RateLimit
from .record import Record, read_records
from .record_flow import Extractor, ends_the_job, extract_record
from .result import Extraction
from .result_file import ResultFile
from .settings import ExtractSettings
from .totals import Totals
from .window import Window

__all__ = [
    "AsyncExtractions",
    "ExtractSettings",
    "Extraction",
    "Extractions",
    "Extractor",
    "JobStore",
    "JsonLines",
    "RateLimit",
    "Record",
    "ResultFile",
    "Totals",
    "Window",
    "aextract",
    "ends_the_job",
    "extract",
    "extract_record",
    "read_records",
]
