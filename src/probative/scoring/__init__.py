"""What systems score: the steps between what was matched and what `score` says."""
