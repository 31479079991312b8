"""Self-taught hashing."""

SPECS = ["sth"]
SOURCE = "Zhang et al. 2010"
ORIGINAL = "WUT-IDEA/domain-ner"
SETTINGS = "authors': 25 neighbours of the same class, C=1"
