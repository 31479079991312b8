"""Two-step hashing."""

SPECS = ["tsh"]
SOURCE = "Lin et al. 2013"
ORIGINAL = "Fassial/Alveo-CiM"
SETTINGS = "authors': KSH loss, spectral inference, kernel SVM, 100 similar and 100 dissimilar pairs a row"
