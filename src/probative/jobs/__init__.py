"""The jobs, one verb per file: each reads, matches, counts, judges and returns a result."""

from __future__ import annotations
