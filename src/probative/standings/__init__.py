"""How systems stand: the steps between what was matched and what `rank` says."""
