"""Two systems on the same units: what `compare` says of a pair, by each kind of score."""
