"""Iterative quantisation."""

SPECS = ["itq", "itq@database"]
SOURCE = "Gong et al. 2013"
ORIGINAL = "willard-yuan/hashing-baseline-for-image-retrieval"
SETTINGS = "50 rounds, as the authors; more bits than directions by a tight frame"
