"""Sample a pool for annotation, and estimate the scores of the whole pool from the sample."""
