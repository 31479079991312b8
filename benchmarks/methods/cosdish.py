"""Column sampling based discrete supervised hashing."""

SPECS = ["cosdish"]
SOURCE = "Kang et al. 2016"
ORIGINAL = "Eddie-Wang1120/single-modal-supervised-hashing-baseline-for-image-retrieval"
SETTINGS = "authors': 10 rounds of 3 alternations; linear hash functions, ridge 1"
