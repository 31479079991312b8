"""
WARP, a reference on float vectors
==================================

WARP (Weston, Bengio, Usunier 2010, https://doi.org/10.1007/s10994-010-5198-3) learns a low-rank map by
stochastic steps. It draws irrelevant rows until one ranks too high; the fewer it has to draw, the worse the
rank, and the larger the step.
"""

# %%
# The score of two rows is the inner product of their images under one map (16, 64).
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.evaluation import code_blocks, float_blocks, retrieval, same_label

digits, y = load_digits(return_X_y=True)
X = digits - digits[:500].mean(axis=0)
X /= np.linalg.norm(X, axis=1, keepdims=True)
train, labels = X[:500], y[:500]
queries, rows, relevant = X[500:900], X[900:], same_label(y[500:900], y[900:])
rng = np.random.default_rng(0)
rank, learning_rate, margin = 16, 0.03, 0.2
harmonic = np.cumsum(1 / np.arange(1, 501))  # the loss of a rank


def step(L):
    """One step: a query, a relevant row, and the first irrelevant row found that violates the margin."""
    q = rng.integers(500)
    near = rng.choice(np.flatnonzero(labels == labels[q]))
    others = rng.permutation(np.flatnonzero(labels != labels[q]))
    image = L @ train[q]
    scores = (train[others] @ L.T) @ image
    violating = np.flatnonzero(scores > (L @ train[near]) @ image - margin)
    if len(violating):
        n_draws, far = violating[0] + 1, others[violating[0]]
        size = learning_rate * harmonic[max(len(others) // n_draws, 1) - 1]
        gap = train[near] - train[far]
        L += size * (np.outer(image, gap) + np.outer(L @ gap, train[q]))
        L /= np.maximum(np.linalg.norm(L, axis=1, keepdims=True), 1)  # the map stays bounded


def mean_ap(blocks):
    """Mean average precision."""
    return retrieval(blocks, ["map"]).mean["map"]


def quality(L):
    """Mean average precision of other rows, by cosine after the map."""
    images = [part @ L.T / np.linalg.norm(part @ L.T, axis=1, keepdims=True) for part in (queries, rows)]
    return mean_ap(float_blocks(*images, relevant))


# %%
# The map starts at the 16 principal directions.
L = np.linalg.svd(train, full_matrices=False)[2][:rank].copy()
steps, curve = [0, 250, 500, 1000, 2000, 4000], [quality(L)]
for before, after in pairwise(steps):
    for _ in range(after - before):
        step(L)
    curve.append(quality(L))
assert curve[-1] > curve[0] + 0.05
encoder = DistilHash(n_bits=32, random_state=0).fit(train, labels)
by_codes = mean_ap(code_blocks(encoder.encode_queries(queries), encoder.encode(rows), relevant))

# %%
# Like MLR, another linear map, WARP ends near .74 here.
figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.plot(steps, curve, "o-", color="#009e73")
for value, name in (
    (curve[-1], "WARP, 16 floats a row (128 bytes)"),
    (mean_ap(float_blocks(queries, rows, relevant)), "cosine of the vectors (512 bytes)"),
    (by_codes, "DistilHash (4 bytes)"),
):
    if value != curve[-1]:
        ax.axhline(value, color="#0072b2" if value == by_codes else "0.4", linestyle="--")
    ax.annotate(name, (steps[-1], value), (0, 5), textcoords="offset points", ha="right")
ax.set(xlabel="steps of WARP", ylabel="mean average precision", ylim=(0.5, 1))
ax.spines[["top", "right"]].set_visible(False)
plt.show()
