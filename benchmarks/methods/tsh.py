"""Two-step hashing."""

SPECS = ["tsh", "tsh:loss=hinge,inference=graph_cut"]
SOURCE = "Lin et al. 2013"
ORIGINAL = "Fassial/Alveo-CiM"
SETTINGS = "authors': KSH loss, spectral inference, kernel SVM, 100 and 100 pairs a row; see notes"
