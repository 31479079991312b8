"""No code: the vectors."""

SPECS = ["float"]
SOURCE = "the vectors themselves"
ORIGINAL = None
SETTINGS = "squared L2 distance"
