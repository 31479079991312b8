"""Multidimensional spectral hashing."""

SPECS = ["mdsh", "mdsh@database"]
SOURCE = "Weiss et al. 2012"
ORIGINAL = "ebusche/EGFINAL"
SETTINGS = "authors': sigma a quarter of the mean distance, eigenvalues above 0.1"
