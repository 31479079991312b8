"""Supervised discrete hashing."""

SPECS = ["sdh"]
SOURCE = "Shen et al. 2015"
ORIGINAL = "bd622/DiscretHashing"
SETTINGS = "authors': 1,000 anchors, sigma 0.4 on unit rows, 5 rounds"
