"""Training builds a problem, generates bits, and returns what was learned. It sets no attribute of an estimator."""
