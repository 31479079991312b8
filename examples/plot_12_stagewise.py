"""
Stage-wise against totally corrective
=====================================

With each new bit, the *totally corrective* master moves the weights of all bits. The *stage-wise* one moves
one shared weight for the old bits and one for the new. Its objective ends a little higher, it needs fewer
rounds, and its codes are searched by plain Hamming distance.
"""

# %%
# Cost is counted, not clocked: the master's rounds, each of which finds the most violated ranking of every
# query.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from structhash import Labels, StructHash
from structhash.evaluation import code_blocks, retrieval, same_label

X, y = load_digits(return_X_y=True)
supervision = Labels(y[:300], n_near=30, n_far=60)
relevant, bits = same_label(y[300:800], y[800:]), np.arange(1, 25)
curves = {}
for schedule in ("totally_corrective", "stagewise"):
    encoder = StructHash(n_bits=24, ranking="ndcg:k=30", C=300.0, schedule=schedule, random_state=0)
    encoder.fit(X[:300], supervision)
    quality = []
    for n_bits in bits:
        queries, codes = encoder.encode(X[300:800], n_bits), encoder.encode(X[800:], n_bits)
        weights = encoder.weights_at(n_bits) if encoder.weighted_ else None
        quality.append(retrieval(code_blocks(queries, codes, relevant, weights), ["ndcg@30"]).mean["ndcg@30"])
    objective = [step["objective"] for step in encoder.history_]
    rounds = np.cumsum([step["rounds"] for step in encoder.history_])
    curves[schedule] = objective, quality, rounds

# %%
# Both find nearly the same on rows that were not learned from.
figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
for schedule, colour, marker, name in (
    ("totally_corrective", "#d55e00", "s", "totally corrective"),
    ("stagewise", "#0072b2", "o", "stage-wise"),
):
    for ax, values in zip(axes, curves[schedule]):
        ax.plot(bits, values, color=colour, marker=marker, ms=4, label=name)
axes[0].set(title="objective of training (log)", yscale="log")
axes[0].set_yticks([25, 50, 100, 200], [25, 50, 100, 200])
axes[0].minorticks_off()
axes[1].set(title="NDCG at 30 of other rows", ylim=(0, 1))
axes[2].set(title="rounds of the master so far", ylim=(0, None))
axes[1].legend(frameon=False, loc="lower right")
for ax in axes:
    ax.set(xlabel="bits", xticks=[1, 8, 16, 24])
    ax.spines[["top", "right"]].set_visible(False)
    ax.title.set_fontsize(10)
plt.show()
