"""Minimal loss hashing."""

SPECS = ["mlh"]
SOURCE = "Norouzi, Fleet 2011"
ORIGINAL = "pombredanne/min-loss-hashing"
SETTINGS = "authors': rho and weight decay chosen on a tenth of the training rows; 50 iterations"
