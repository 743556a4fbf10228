"""Files to counts and annotations; every error names file, line and remedy."""
