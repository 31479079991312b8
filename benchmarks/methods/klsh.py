"""Kernelised locality-sensitive hashing."""

SPECS = ["klsh", "klsh@database"]
SOURCE = "Kulis, Grauman 2012"
ORIGINAL = "ZJULearning/MatlabFunc"
SETTINGS = "authors': 300 anchors, 30 a plane; Gaussian kernel, mean distance"
