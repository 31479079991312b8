"""Spherical hashing."""

SPECS = ["spher", "spher@database"]
SOURCE = "Heo et al. 2012"
ORIGINAL = "willard-yuan/hashing-baseline-for-image-retrieval"
SETTINGS = "authors': overlap errors of 0.1 and 0.15; 100 rounds at most"
