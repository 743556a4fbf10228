"""Jobs, one verb per file: each reads, matches, counts and returns a result."""

from __future__ import annotations
