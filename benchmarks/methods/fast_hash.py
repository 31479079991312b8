"""FastHash."""

SPECS = ["fast_hash"]
SOURCE = "Lin et al. 2014"
ORIGINAL = "Fassial/Alveo-CiM"
SETTINGS = "authors': hinge loss, 200 trees of depth 4 a bit, 100 similar and 100 dissimilar pairs a row"
