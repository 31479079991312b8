"""
Codes in ten lines
==================

Learn 32-bit codes of handwritten digits, and search with them. A row shrinks from 512 bytes to 4.
"""

# %%
# The last 297 digits are queries. The encoder sees the labels of the first 1,000 rows only; the database
# holds 500 rows more.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.search import Exact

X, y = load_digits(return_X_y=True)
encoder = DistilHash(n_bits=32, random_state=0).fit(X[:1000], y[:1000])
index = Exact(n_bits=32)
index.add(encoder.encode(X[:1500]))
queries, labels = X[1500:], y[1500:]
distances, ids = index.search(encoder.encode_queries(queries), k=10)

wrong = y[ids] != labels[:, None]
print(f"{1 - wrong.mean():.1%} of the ten nearest show the digit of the query")

# %%
# The picture shows the first five queries, and the first three that find a wrong digit. Wrong ones have a
# frame. A query that the model misjudges finds the wrong digit throughout.
shown = np.concatenate([np.arange(5), np.flatnonzero(wrong.any(axis=1))[:3]])
figure, axes = plt.subplots(len(shown), 11, figsize=(7, 5.3), layout="constrained")
for row, query in zip(axes, shown):
    row[0].imshow(queries[query].reshape(8, 8), "Blues")
    for ax, found, bad in zip(row[1:], ids[query], wrong[query]):
        ax.imshow(X[found].reshape(8, 8), "gray_r")
        ax.patch.set(edgecolor="#d55e00", linewidth=6 if bad else 0)
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
figure.suptitle("a query (blue) and the ten nearest by their codes", fontsize=11)
plt.show()
