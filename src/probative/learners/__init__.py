"""Models to compare: each needs an extra of its own."""
