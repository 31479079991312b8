"""
Rescoring: let the vectors order the candidates
===============================================

Codes fit into memory; the vectors may stay on disk. A search fetches ``factor`` times as many candidates as
it needs by their codes, and the vectors of these few decide.
"""

# %%
# 4,000 vectors that depend on 12 hidden numbers. No labels: the ten nearest vectors are what should be found.
import matplotlib.pyplot as plt
import numpy as np

from structhash import DistilHash
from structhash.search import Exact, Rescored, choose_factor

rng = np.random.default_rng(0)
hidden = rng.normal(size=(4_200, 12)) * np.linspace(2, 0.5, 12)
vectors = np.tanh(hidden @ rng.normal(size=(12, 64)) / 4) + 0.05 * rng.normal(size=(4_200, 64))
rows, queries = vectors[:4_000], vectors[4_000:]
encoder = DistilHash(n_bits=32, random_state=0).fit(rows[:600])

# %%
# ``choose_factor`` tells which share of the ten nearest each factor recovers, up to a share that you want.
figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for n_bits, colour, marker in ((32, "#009e73", "^"), (16, "#0072b2", "o"), (8, "#d55e00", "s")):
    index = Exact(n_bits)
    index.add(encoder.encode(rows, n_bits))
    prepared = encoder.prepare_queries(queries, n_bits)
    chosen = choose_factor(Rescored(index, rows, metric="euclidean"), prepared, queries, k=10, recall=0.99)
    print(f"{n_bits} bits: {chosen.recall:.3f} of the ten nearest at factor {chosen.factor}")
    ax.plot(*zip(*chosen.recalls.items()), marker=marker, color=colour, label=f"codes of {n_bits} bits")
ax.axhline(0.99, color="0.5", linewidth=1, linestyle=":")
ax.annotate("0.99 is wanted", (1, 0.975), color="0.4", fontsize=9, va="top")
ax.set(xscale="log", xlabel="factor (candidates a neighbour)", ylabel="recall of ten nearest", ylim=(0, 1.03))
ax.set_xticks([1, 2, 4, 8, 16, 32, 64], [1, 2, 4, 8, 16, 32, 64])
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
plt.show()
