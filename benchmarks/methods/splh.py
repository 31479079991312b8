"""Semi-supervised sequential projection learning."""

SPECS = ["splh"]
SOURCE = "Wang et al. 2012"
ORIGINAL = "lpsdwf/hash_code_reconstruction"
SETTINGS = "authors': eta 0.2, alpha 1; 50 similar and 100 dissimilar pairs a row"
