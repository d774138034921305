"""What ``interlock extract`` is made of.

``program.py`` runs a job; ``named_schema.py`` finds its schema, ``places.py`` says where results
go, ``progress.py`` shows how far it is and ``preview.py`` what it would do.
"""

from __future__ import annotations

from .program import REJECTED, BulkSettings, run_bulk

__all__ = ["REJECTED", "BulkSettings", "run_bulk"]
