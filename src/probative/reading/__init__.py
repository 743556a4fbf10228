"""Read files, frames and sequences into annotations; every error names file, line and remedy."""
