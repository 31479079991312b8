"""
LPBoost is a special case
=========================

LPBoost (Demiriz, Bennett, Shawe-Taylor 2002, https://doi.org/10.1023/A:1012470815092) finds the weights of
weak classifiers by a linear programme, and adds classifiers by column generation. ``CGHash`` with the hinge
loss solves the same programme when the columns are weak classifiers.
"""

# %%
# LPBoost minimises ``sum w + C mean max(0, 1 - y sum_t w_t h_t(x))`` with ``h_t(x)`` 1 or -1. Take two more
# points: P, where every bit is 1, and N, where every bit is 0. A bit of x differs from that of P or from that
# of N. So ``(distance to N) - (distance to P) = sum_t w_t h_t(x)``, and a row of the class +1 is the triplet
# (x, near P, far N).
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linprog
from sklearn.datasets import make_moons

from structhash import CGHash, Triplets

X, label = make_moons(120, noise=0.25, random_state=0)
y, n, C = 2 * label - 1, len(X), 100.0
P, N = n, n + 1
triplets = [(i, P, N) if y[i] > 0 else (i, N, P) for i in range(n)]

# %%
# Weak classifiers are stumps, ``x_j > threshold`` and ``x_j < threshold``. The second kind is the first one
# on ``-x_j``. P has values above all rows and N below, so every stump is 1 on P and 0 on N.
both_ways = np.hstack([X, -X])
rows = np.vstack([both_ways, both_ways.max(axis=0) + 1, both_ways.min(axis=0) - 1])
booster = CGHash(n_bits=150, loss="hinge", family="stump", C=C, stop_at_optimum=True, tolerance=1e-7)
booster.fit(rows, Triplets(np.array(triplets)))
objective = [step["objective"] for step in booster.history_]
print(f"{booster.n_bits_} stumps, {np.count_nonzero(booster.weights_ > 1e-9)} of them with a weight")

# %%
# The same programme with all stumps there are, by scipy.
cuts = [np.sort(column) for column in rows.T]
H = np.hstack([2.0 * (rows[:n, [j]] > (each[1:] + each[:-1]) / 2) - 1 for j, each in enumerate(cuts)])
costs = np.append(np.ones(H.shape[1]), np.full(n, C / n))
program = linprog(costs, A_ub=-np.hstack([y[:, None] * H, np.eye(n)]), b_ub=-np.ones(n))
print(f"column generation {objective[-1]:.6f}; all {H.shape[1]} stumps at once {program.fun:.6f}")
assert abs(objective[-1] - program.fun) < 1e-5 * program.fun

# %%
# The classifier is the sign of the difference of two weighted distances.
across = np.stack(np.meshgrid(np.linspace(-1.8, 2.8, 200), np.linspace(-1.5, 2, 200)), axis=-1)
grid = np.hstack([across.reshape(-1, 2), -across.reshape(-1, 2)])
margin = ((2.0 * booster.transform(grid) - 1) @ booster.weights_).reshape(200, 200)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(range(1, len(objective) + 1), objective, "o-", ms=3, color="#0072b2", label="column generation")
left.axhline(program.fun, color="#d55e00", linestyle="--", label="all stumps at once (scipy)")
left.set(xlabel="stumps", ylabel="objective of LPBoost", ylim=(0, None))
left.spines[["top", "right"]].set_visible(False)
left.legend(frameon=False)
right.contourf(
    across[..., 0], across[..., 1], margin > 0, levels=[-0.5, 0.5, 1.5], colors=["#fbe3d2", "#d5e8f5"]
)
for sign, colour, marker in ((-1, "#d55e00", "s"), (1, "#0072b2", "o")):
    right.scatter(*X[y == sign].T, s=16, color=colour, marker=marker)
right.set(title="the classifier that it found", xticks=[], yticks=[])
plt.show()
