"""Training: builds a problem, generates bits, and returns what was learned. Nothing here knows an estimator."""
