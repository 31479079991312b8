"""A bit a coordinate, rescored."""

SPECS = ["binary_quantization"]
SOURCE = "practice with embeddings; Yamada et al. 2021"
ORIGINAL = None
SETTINGS = "all coordinates; the 400 nearest codes rescored by the vectors, 4 for each of the 100 asked for"
