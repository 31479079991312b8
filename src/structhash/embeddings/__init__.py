"""Embeddings, one file each: vectors in which near means alike. `base` is the contract.

An embedding turns rows into vectors and gives, for the partners of each point, a *target*: how the probability
of being alike is distributed over them. Codes that follow the targets (`structhash.masters.listwise`) rank as
the embedding does, in a few bits.

`posterior` serves classes that the training rows have, `metric` and `manifold` classes that they lack, and
`cosine` rows without labels.
"""
