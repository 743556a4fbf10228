"""Results to text, JSON, Markdown, LaTeX, CSV, figures and HTML."""
