"""Fast supervised discrete hashing."""

SPECS = ["fsdh"]
SOURCE = "Gui et al. 2018"
ORIGINAL = "Eddie-Wang1120/single-modal-supervised-hashing-baseline-for-image-retrieval"
SETTINGS = "as sdh"
