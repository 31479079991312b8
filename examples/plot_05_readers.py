"""
Readers: more from the same bytes
=================================

A stored code must be short, a query need not. A *reader* compares the real values of a query with stored
codes, or decodes the codes by fitted tables. The same bytes then find more of the nearest rows.
"""

# %%
# No labels here. What counts is how many of the ten nearest rows, by the vectors, a search for ten finds.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from structhash import DistilHash, fit_reader
from structhash.search import Exact

X, _ = load_digits(return_X_y=True)
rows, queries = X[:1500], X[1500:]
nearest = NearestNeighbors(n_neighbors=10).fit(rows).kneighbors(queries, return_distance=False)
encoder = DistilHash(n_bits=48, random_state=0).fit(rows[:600])


def recall(reader, n_bits):
    """Share of the ten nearest rows that a search for ten finds."""
    index = Exact(n_bits)
    index.add(encoder.encode(rows, n_bits))
    read = fit_reader(encoder, rows, n_bits, reader)
    _, found = index.search(read.prepare(queries), k=10)
    return np.mean([len(np.intersect1d(*each)) / 10 for each in zip(found, nearest)])


# %%
# The codes are the same for all three lines. Only what a query does with them differs.
lengths = [8, 16, 24, 32, 48]
n_bytes = [n_bits // 8 for n_bits in lengths]
figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for reader, what, colour, marker in (
    ("tables", "codes decoded by fitted tables", "#009e73", "^"),
    ("real", "real values of the query", "#0072b2", "o"),
    ("bits", "Hamming distance", "#d55e00", "s"),
):
    recalls = [recall(reader, n_bits) for n_bits in lengths]
    ax.plot(n_bytes, recalls, marker=marker, color=colour, label=f"{reader}: {what}")
ax.set(xlabel="bytes a row (a vector has 512)", ylabel="recall of the ten nearest", ylim=(0, 1), xticks=n_bytes)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
plt.show()
