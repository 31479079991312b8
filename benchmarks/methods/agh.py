"""Anchor graph hashing."""

SPECS = ["agh", "agh@database"]
SOURCE = "Liu et al. 2011"
ORIGINAL = "ColumbiaDVMM/Anchor-Graph-Hashing"
SETTINGS = "authors': two layers, 300 anchors, the nearest 2"
