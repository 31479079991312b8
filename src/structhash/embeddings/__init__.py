"""Embeddings, one file each: vectors in which similar rows are near. `base` is the contract.

An embedding turns rows into vectors and gives, for the partners of each point, a *target*: how the probability
of being alike is distributed over them. Codes that follow the targets (`structhash.masters.listwise`) rank as
the embedding does, in a few bits.

`posterior` suits the classes of the training rows, `multilabel` suits rows with several labels, `metric`,
`manifold` and `class_directions` suit other classes, `mixture` suits both kinds of classes in one database, and
`centered` suits rows without labels.
"""
