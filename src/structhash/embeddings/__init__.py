"""Where bits are cut, and what they should say: vectors in which near means alike.

An embedding turns rows into vectors Z and, for a list of partners of each point, gives a *target*: how the
chance to be alike is spread over the list. Codes that follow the targets (`structhash.masters.listwise`) rank
by the embedding, though they hold but a few bits of it.

`Posterior` serves classes that the training rows have, `Metric` and `Manifold` classes that they lack, `Cosine`
rows without labels.
"""
