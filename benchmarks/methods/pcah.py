"""Principal component hashing."""

SPECS = ["pcah", "pcah@database"]
SOURCE = "Wang et al. 2006"
ORIGINAL = "willard-yuan/hashing-baseline-for-image-retrieval"
SETTINGS = "none"
