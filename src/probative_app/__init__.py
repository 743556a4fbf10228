"""Serve a local web page: drop files, read the result of a command."""
