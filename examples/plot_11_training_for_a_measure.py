"""
Training for a ranking measure
==============================

``StructHash`` trains for the measure that you name. Its master finds for each query the ranking that violates
the measure most, and pushes and pulls documents by it. This is what three measures ask for, in one and the
same situation.
"""

# %%
# A query, and 60 documents in order of their distance. Ten are relevant; some of them are nearer than most
# others.
import matplotlib.pyplot as plt
import numpy as np

from structhash.pieces import load

distances = np.linspace(0, 9, 60)
relevant = np.isin(np.arange(60), [0, 1, 3, 4, 6, 8, 13, 20, 32, 47])
near, far = distances[relevant], distances[~relevant]
n_near, n_far = [0, len(near)], [0, len(far)]

# %%
# ``above`` counts the irrelevant documents before each relevant one in the most violated ranking, ``below``
# the relevant ones after each irrelevant one. These counts are the pair weights, up to a factor. AUC weighs
# each pair in the wrong order alike. The other two push hardest on the irrelevant documents in and near the
# first ten.
measures = {"AUC": "auc", "NDCG at 10": "ndcg:k=10", "precision at 10": "precision:k=10"}
figure, axes = plt.subplots(3, 1, figsize=(7, 5.2), layout="constrained", sharex=True, sharey=True)
for ax, (name, spec) in zip(axes, measures.items()):
    loss, above, below = load("rankings", spec).most_violated(near, far, n_near, n_far)
    weights = np.zeros(60)
    weights[relevant], weights[~relevant] = -above / len(far), below / len(near)
    ax.bar(np.arange(1, 61)[~relevant], weights[~relevant], color="#d55e00", label="irrelevant: push away")
    ax.bar(np.arange(1, 61)[relevant], weights[relevant], color="#0072b2", label="relevant: pull nearer")
    ax.axhline(0, color="0.3", linewidth=0.8)
    ax.set_title(f"{name} (loss {loss[0]:.2f})", fontsize=10, loc="left")
    ax.spines[["top", "right"]].set_visible(False)
axes[1].set_ylabel("pair weight, of the largest possible")
axes[2].set_xlabel("document, nearest first")
axes[0].legend(frameon=False, fontsize=9, loc="lower left")
plt.show()
