"""Families of bits, one file each. `base` is the contract; `starts` says where the search for a bit begins."""
