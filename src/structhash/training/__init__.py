"""Training builds a problem, generates bits and returns what was learned; it sets no attribute of an estimator."""
