"""Supervised hashing with kernels."""

SPECS = ["ksh"]
SOURCE = "Liu et al. 2012"
ORIGINAL = "ColumbiaDVMM/Supervised-Hashing-with-Kernels"
SETTINGS = "authors': 300 anchors; all training rows labelled, up to 10,000"
