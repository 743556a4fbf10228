"""A pool of which a part gets annotated: which part, and what that tells of the whole."""
