"""Turn results into text, JSON, Markdown, LaTeX, CSV, figures and HTML."""
