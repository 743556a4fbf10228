"""Systems with several runs: from what was matched, or from counts, to two answers."""
