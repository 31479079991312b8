"""
Few labels
==========

You have a few labelled rows of each class, and many rows without labels. The rows that you search show where
the classes lie. Give them as ``unlabeled``.
"""

# %%
# 2 to 20 labelled digits of each class; the database holds 1,547 rows, and 250 more are queries. Models of so
# few labels take some rows for those of new classes, and warn of it.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.evaluation import code_blocks, retrieval, same_label

X, y = load_digits(return_X_y=True)
database, queries = X[:1547], X[1547:]
relevant = same_label(y[1547:], y[:1547])


def mean_ap(encoder):
    """Mean average precision of 16-bit codes."""
    blocks = code_blocks(encoder.encode_queries(queries), encoder.encode(database), relevant)
    return retrieval(blocks, ["map"]).mean["map"]


order = np.random.default_rng(0).permutation(1547)
counts, alone, helped = [2, 5, 20], [], []
for count in counts:
    rows = np.concatenate([order[y[order] == digit][:count] for digit in range(10)])
    labels_only = DistilHash(n_bits=16, random_state=0).fit(X[rows], y[rows])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "many of these rows are like no class")
        alone.append(mean_ap(labels_only))
    both = DistilHash(n_bits=16, random_state=0).fit(X[rows], y[rows], unlabeled=database)
    helped.append(mean_ap(both))
without = mean_ap(DistilHash(n_bits=16, random_state=0).fit(database[:1000]))

# %%
# With the database as ``unlabeled``, two labels a class do what five do without. Twenty need no help.
figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.plot(counts, helped, "o-", color="#0072b2", label="labels, and the database as unlabeled")
ax.plot(counts, alone, "s-", color="#d55e00", label="labels only")
ax.axhline(without, color="0.4", linestyle="--", label="no labels")
ax.set(xscale="log", xlabel="labelled rows of each class", ylabel="mean average precision", ylim=(0, 1))
ax.set_xticks(counts, counts)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
plt.show()
