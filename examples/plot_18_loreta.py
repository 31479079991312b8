"""
LORETA, a low-rank similarity learned online
============================================

LORETA (Shalit, Weinshall, Chechik 2012, https://jmlr.org/papers/v13/shalit12a.html) learns a similarity
``q'Wx`` of float vectors, one triplet at a time. W has rank k before and after each step. Here it is next to
MLR, WARP and codes on the same rows.
"""

# %%
# W is kept as ``AB'``. The gradient of a triplet is ``uv'``, of rank one. LORETA keeps the part of it that is
# tangent to the matrices of rank k, steps along that, and returns to rank k: the retraction. Each factor gets a
# change of rank one, so a step costs as much as a few products of A and B with a vector.
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.evaluation import code_blocks, float_blocks, retrieval, same_label

RANK = 16


def retract(A, B, u, v):
    """Factors of the retraction of ``AB' + uv'``."""
    # The paper keeps pseudo-inverses of both factors and updates them. At 16 columns, solving costs little.
    a, b = (np.linalg.solve(F.T @ F, F.T @ w) for F, w in ((A, u), (B, v)))
    s = a @ b
    inner, outer = 3 / 8 * s - 1 / 2, 1 - s / 2
    return A + np.outer(inner * A @ a + outer * u, b), B + np.outer(inner * B @ b + outer * v, a)


# %%
# Check against the definition, with dense matrices: the tangent part ``xi`` of the step Z, then ``V1 W^+ V2``.
# A second check needs no formula of the paper. Singular values give the best approximation of rank k to
# ``W + t xi``. It differs from the retraction by a multiple of t^3: half a step, an eighth of the difference.
def dense(W, Z):
    """The tangent part of Z, and the retraction of W + Z."""
    U, values, Vt = np.linalg.svd(W)
    U, values, Vt = U[:, :RANK], values[:RANK], Vt[:RANK]
    inverse, left, right = (Vt.T / values) @ U.T, U @ U.T, Vt.T @ Vt
    S = left @ Z @ right
    P, Q = Z @ right - S, left @ Z - S
    V1 = W + S / 2 + P - S @ inverse @ S / 8 - P @ inverse @ S / 2
    V2 = W + S / 2 + Q - S @ inverse @ S / 8 - S @ inverse @ Q / 2
    return S + P + Q, V1 @ inverse @ V2


rng = np.random.default_rng(0)
A, B = rng.normal(size=(2, 64, RANK))
u, v = rng.normal(size=(2, 64))
differences = []
for t in (0.04, 0.02, 0.01):
    xi, expected = dense(A @ B.T, t * np.outer(u, v))
    C, D = retract(A, B, t * u, v)
    np.testing.assert_allclose(C @ D.T, expected, atol=1e-10)
    U, values, Vt = np.linalg.svd(A @ B.T + xi)
    differences.append(np.linalg.norm(C @ D.T - (U[:, :RANK] * values[:RANK]) @ Vt[:RANK]))
print("half a step divides the difference by", np.divide(differences[:-1], differences[1:]).round(2))
assert all(7 < before / after < 9 for before, after in pairwise(differences))

# %%
# The rows are those of the script on WARP. A triplet is a query, a row of its class and a row of another one.
# Its loss is ``1 - q'W(near - far)``, if that is above 0.
digits, y = load_digits(return_X_y=True)
X = digits - digits[:500].mean(axis=0)
X /= np.linalg.norm(X, axis=1, keepdims=True)
names = {"map": "mAP", "precision@10": "precision at 10"}


def triplets(labels, n, rng):
    """Row numbers of queries, near rows and far rows."""
    queries = rng.integers(len(labels), size=n)
    same = labels == labels[queries, None]
    near, far = (
        each.argmax(axis=1) for each in (same * rng.random(same.shape), ~same * rng.random(same.shape))
    )
    return np.stack([queries, near, far], axis=1)


def loreta(rows, labels, step_size, n_steps):
    """Factors after each 1,000 steps. They start at the principal directions."""
    A = B = np.linalg.svd(rows, full_matrices=False)[2][:RANK].T
    for number, (q, near, far) in enumerate(triplets(labels, n_steps, np.random.default_rng(0))):
        if number % 1000 == 0:
            yield A, B
        gap = rows[near] - rows[far]
        if (rows[q] @ A) @ (B.T @ gap) < 1:
            A, B = retract(A, B, step_size * rows[q], gap)
    yield A, B


def quality(factors, queries, rows, relevant):
    """Measures of the ranking by descending similarity."""
    A, B = factors
    return retrieval([(-(queries @ A) @ (rows @ B).T, relevant(slice(None)))], names).mean


# %%
# The step size is chosen on training rows: 400 learn, 100 others ask.
train, labels = X[:500], y[:500]
held_out = X[400:500], X[:400], same_label(y[400:500], y[:400])
trials = {
    size: quality(list(loreta(X[:400], y[:400], size, 16000))[-1], *held_out)["map"]
    for size in (0.1, 0.3, 1.0, 3.0)
}
step_size = max(trials, key=trials.get)
asked = X[500:900], X[900:], same_label(y[500:900], y[900:])
curve = [quality(factors, *asked) for factors in loreta(train, labels, step_size, 16000)]
print(f"step size {step_size}: mean average precision {curve[0]['map']:.3f}, then {curve[-1]['map']:.3f}")
assert curve[-1]["map"] > curve[0]["map"] + 0.02


# %%
# MLR and WARP have scripts of their own; here they are short. MLR minimises ``|W|^2 / 2`` and C times the mean
# hinge of triplets by projected steps of size 1/t. Its W is the mean over the second half of the steps.
def mlr(rows, labels, C=100.0, n_steps=1000):
    """A map whose Euclidean distance is the metric."""
    rng, W, mean = np.random.default_rng(0), np.zeros((64, 64)), np.zeros((64, 64))
    for t in range(1, n_steps + 1):
        q, near, far = rows[triplets(labels, 200, rng).T]
        to_near, to_far = q - near, q - far
        violating = 2 * (((to_far @ W) * to_far).sum(1) - ((to_near @ W) * to_near).sum(1)) < 1
        G = 2 / 200 * (to_far[violating].T @ to_far[violating] - to_near[violating].T @ to_near[violating])
        values, vectors = np.linalg.eigh(W - (W - C * G) / t)
        W = (vectors * np.maximum(values, 0)) @ vectors.T
        mean += W * (t > n_steps // 2)
    values, vectors = np.linalg.eigh(mean / (n_steps // 2))
    return vectors * np.sqrt(np.maximum(values, 0))


def warp(rows, labels, learning_rate=0.03, margin=0.2, n_steps=4000):
    """A map (16, 64) whose cosine is the similarity."""
    rng, harmonic = np.random.default_rng(0), np.cumsum(1 / np.arange(1, len(rows) + 1))
    L = np.linalg.svd(rows, full_matrices=False)[2][:RANK].copy()
    for q, near, _ in triplets(labels, n_steps, rng):
        others = rng.permutation(np.flatnonzero(labels != labels[q]))
        image = L @ rows[q]
        violating = np.flatnonzero((rows[others] @ L.T) @ image > (L @ rows[near]) @ image - margin)
        if len(violating):
            rank, gap = len(others) // (violating[0] + 1), rows[near] - rows[others[violating[0]]]
            L += (
                learning_rate * harmonic[max(rank, 1) - 1] * (np.outer(image, gap) + np.outer(L @ gap, rows[q]))
            )
            L /= np.maximum(np.linalg.norm(L, axis=1, keepdims=True), 1)
    return L


def by_map(L, unit):
    """Measures of the ranking by Euclidean distance after a map, or by cosine."""
    images = [part @ L for part in asked[:2]]
    images = [part / np.linalg.norm(part, axis=1, keepdims=True) if unit else part for part in images]
    return retrieval(float_blocks(*images, asked[2]), names).mean


# %%
# The three linear similarities are near each other in mean average precision. All find fewer relevant rows
# among the first ten than the cosine of the vectors. Codes of 4 bytes that learn from the same labels are best
# in both measures: they are not linear.
encoder = DistilHash(n_bits=32, random_state=0).fit(train, labels)
codes = code_blocks(encoder.encode_queries(asked[0]), encoder.encode(asked[1]), asked[2])
found = {
    "cosine\n512 bytes": by_map(np.eye(64), True),
    "MLR\n512 bytes": by_map(mlr(train, labels), False),
    "WARP\n128 bytes": by_map(warp(train, labels).T, True),
    "LORETA\n128 bytes": curve[-1],
    "DistilHash\n4 bytes": retrieval(codes, names).mean,
}
for name, scores in found.items():
    print(name.replace("\n", ", "), {measure: round(value, 3) for measure, value in scores.items()})
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", width_ratios=[2, 3])
for place, ((measure, title), colour) in enumerate(zip(names.items(), ("#0072b2", "#d55e00"))):
    left.plot(1000 * np.arange(len(curve)), [each[measure] for each in curve], "o-", ms=3, color=colour)
    left.annotate(
        title, (16000, curve[-1][measure]), (0, 12), textcoords="offset points", ha="right", color=colour
    )
    heights = [scores[measure] for scores in found.values()]
    bars = right.bar(np.arange(len(found)) + 0.4 * place, heights, 0.38, color=colour, label=title)
    right.bar_label(bars, fmt="{:.2f}", padding=2)
left.set(xlabel="triplets that LORETA has seen", ylabel="quality", ylim=(0.5, 1))
left.set_xticks([0, 5000, 10000, 15000])
right.set_xticks(np.arange(len(found)) + 0.2, list(found))
right.set(ylabel="quality", ylim=(0, 1.25))
right.legend(frameon=False, ncols=2, loc="upper left")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
