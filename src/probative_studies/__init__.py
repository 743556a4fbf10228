"""Repeat the experiments of the source papers, and measure how well intervals and tests hold."""

from __future__ import annotations
