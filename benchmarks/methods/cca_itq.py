"""Iterative quantisation after canonical correlation with the labels."""

SPECS = ["cca_itq"]
SOURCE = "Gong et al. 2013"
ORIGINAL = "lpsdwf/hash_code_reconstruction"
SETTINGS = "50 rounds as the authors; ridge 1e-3 by validation, on rows of unit norm (theirs: 1e-4 on raw rows)"
