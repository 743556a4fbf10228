"""Block-regularised cross-validation: split the data, train and validate models."""
