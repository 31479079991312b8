"""The estimators: they check input, build a problem, run it, and set their attributes once at the end."""
