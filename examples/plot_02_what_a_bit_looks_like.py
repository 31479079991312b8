"""
What a bit looks like
=====================

A bit cuts the space in two. Column generation adds one cut at a time, each where the cuts so far still
confuse points.
"""

# %%
# Seven classes of points in a plane, one of them in the middle. The first bits of the code are the code as it
# grew.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from structhash import StructHash

angles = np.arange(6) * np.pi / 3
centres = np.vstack([4 * np.column_stack([np.cos(angles), np.sin(angles)]), [0, 0]])
X, y = make_blobs(350, centers=centres, cluster_std=0.7, random_state=0)
encoder = StructHash(n_bits=6, ranking="ndcg:k=40", random_state=0).fit(X, y)

# %%
# Each picture shades the half in which the new bit is set; thin lines are the older bits. Rows that no line
# separates have the same code.
across = np.linspace(-7, 7, 281)
grid = np.stack(np.meshgrid(across, across), axis=-1)
bits = encoder.transform(grid.reshape(-1, 2)).reshape(281, 281, 6)

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
figure, axes = plt.subplots(2, 3, figsize=(8, 5.6), layout="constrained", sharex=True, sharey=True)
for t, ax in enumerate(axes.flat):
    ax.contourf(across, across, bits[..., t], levels=[-0.5, 0.5, 1.5], colors=["white", "0.85"])
    for old in range(t):
        ax.contour(across, across, bits[..., old], levels=[0.5], colors="0.3", linewidths=1)
    for label, (colour, marker) in enumerate(zip(COLOURS, "os^Dv*P")):
        ax.scatter(*X[y == label].T, s=9, color=colour, marker=marker)
    n_codes = len(np.unique(encoder.encode(X, n_bits=t + 1), axis=0))
    ax.set(title=f"bit {t + 1}: {n_codes} codes in use", xticks=[], yticks=[], aspect="equal")
plt.show()
