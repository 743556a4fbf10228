"""Published figures and demonstration counts."""
