"""Word everything that is printed: numbers, names, and the sentences of verdicts."""
