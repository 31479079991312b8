"""
The pair-weight seam
====================

Two parts learn a bit in turn. The *master* knows the bits so far, and says which pairs of points should be
pushed apart or pulled together, and how much. The *family* finds the cut that serves these pair weights best.
Nothing else passes between the two.
"""

# %%
# The parts by hand: who is compared with whom, a master for the ranking measure AUC, and linear cuts.
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from sklearn.datasets import make_blobs

from structhash import Labels
from structhash.families.linear import Linear
from structhash.masters.ranking import RankingMaster
from structhash.masters.schedules.stagewise import Stagewise
from structhash.objectives.rankings.auc import AUC
from structhash.objectives.regularizers.l1 import L1
from structhash.pair_weights import pair_graph

CENTRES = [[0, 0], [3, 0.6], [1.2, 2.2], [4.2, 2.6]]
X, y = make_blobs(48, centers=CENTRES, cluster_std=0.32, random_state=3)
rng = np.random.default_rng(0)
comparisons = Labels(y, n_near=4, n_far=8).comparisons(X, rng)
graph = pair_graph(comparisons, len(X))
master = RankingMaster(comparisons, graph, AUC(), L1(), Stagewise(), C=30.0)
family = Linear()
state = family.prepare(X, rng)
Z = family.features(X, state)

# %%
# The loop is Algorithm 3 of the paper. ``drawn`` keeps the pair weights that each cut was learned from.
entries, drawn = master.first_entries(), []
for _ in range(4):
    pairs = graph.pair_weights(entries)
    cut = family.learn(Z, pairs, rng)
    bit = (family.decide(Z, cut)[:, 0] > 0).astype(np.uint8)
    drawn.append((pairs.weights.tocoo(), cut))
    entries = master.add(bit).entries

# %%
# Before the first bit all pairs count alike. Then the master drops the pairs that are in order, and the next
# cut goes where errors are left. Wider lines are heavier pairs; only the 150 heaviest are drawn. The thick line
# is the next cut.
PUSH, PULL = "#d55e00", "#0072b2"
across = np.stack(np.meshgrid(np.linspace(-1.2, 5.4, 200), np.linspace(-1, 3.6, 200)), axis=-1)
figure, axes = plt.subplots(2, 2, figsize=(8, 5.6), layout="constrained", sharex=True, sharey=True)
for t, (ax, (weights, cut)) in enumerate(zip(axes.flat, drawn)):
    once = weights.row < weights.col
    i, j, w = weights.row[once], weights.col[once], weights.data[once]
    heaviest = np.argsort(-np.abs(w), kind="stable")[:150]
    i, j, w = i[heaviest], j[heaviest], w[heaviest]
    for colour, part in ((PULL, w < 0), (PUSH, w > 0)):
        lines = np.stack([X[i[part]], X[j[part]]], axis=1)
        ax.add_collection(
            LineCollection(lines, colors=colour, linewidths=1.6 * np.abs(w[part]) / np.abs(w).max(), alpha=0.6)
        )
    value = family.decide(family.features(across.reshape(-1, 2), state), cut).reshape(200, 200)
    ax.contour(across[..., 0], across[..., 1], value, levels=[0], colors="black", linewidths=2)
    for label, marker in enumerate("os^D"):
        ax.scatter(*X[y == label].T, s=18, marker=marker, color="white", edgecolor="black", zorder=3)
    left = np.count_nonzero(np.abs(weights.data[once]) > 1e-9)
    ax.set(title=f"after {t} bits: {left} pairs with a weight", xticks=[], yticks=[])
    ax.title.set_fontsize(10)
for colour, label in ((PUSH, "push apart"), (PULL, "pull together")):
    axes[0, 0].plot([], [], color=colour, label=label)
figure.legend(loc="outside lower center", ncols=2, frameon=False)
plt.show()
