"""Training builds a problem, generates bits and returns what it learned. It sets no attribute of estimators."""
