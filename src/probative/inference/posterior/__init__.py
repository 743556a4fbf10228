"""Posteriors of one score and of the difference of two."""
