"""Families of bits, one file each. `base` is the contract; `starts` holds the first planes of a search."""
