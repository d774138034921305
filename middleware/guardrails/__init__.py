"""Guardrails from plain functions: a check returns a verdict, and a check that fails blocks."""

from __future__ import annotations

from .check import Check, Surface
from .decorator import guardrail
from .verdict import Verdict, allow, ask, block, revise

__all__ = ["Check", "Surface", "Verdict", "allow", "ask", "block", "guardrail", "revise"]
