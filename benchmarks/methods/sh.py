"""Spectral hashing."""

SPECS = ["sh", "sh@database"]
SOURCE = "Weiss et al. 2008"
ORIGINAL = "willard-yuan/hashing-baseline-for-image-retrieval"
SETTINGS = "none: as many components as bits, as the authors' code"
