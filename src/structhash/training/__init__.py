"""Training: builds a problem, generates bits, and returns what was learned. Nothing here sets an attribute of an estimator."""
