"""Hamming distance metric learning."""

SPECS = ["hdml"]
SOURCE = "Norouzi et al. 2012"
ORIGINAL = "norouzi/hdml"
SETTINGS = "authors': linear, triplets, 2,000 epochs; weight decay chosen on a fifth of the training rows"
