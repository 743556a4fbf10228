"""Block-regularised cross-validation: splits, and the runner that trains and validates."""
