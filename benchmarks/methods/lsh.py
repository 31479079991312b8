"""Locality-sensitive hashing by random planes."""

SPECS = ["lsh", "lsh@database"]
SOURCE = "Charikar 2002"
ORIGINAL = "willard-yuan/hashing-baseline-for-image-retrieval"
SETTINGS = "planes through the mean of the rows, not the origin"
