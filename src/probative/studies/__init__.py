"""The experiments of the source papers, as functions."""
