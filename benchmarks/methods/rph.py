"""Ranking preserving hashing."""

SPECS = ["rph"]
SOURCE = "Wang et al. 2015"
ORIGINAL = None
SETTINGS = "ours, by validation: 50 epochs of mini-batches of 100 rows; no code of the authors is public"
