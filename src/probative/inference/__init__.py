"""Counts to results: what can be said about scores, and how surely."""
