"""
Prefixes: one model, every length
=================================

The first bits of a code are the code of a shorter model. So one model of 32 bits serves all lengths. This
does not hold for methods that rotate all bits together, such as ITQ.
"""

# %%
# Solid lines cut the codes of one model of 32 bits. Rings are models that were fitted at their own length.
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.baselines import ITQ
from structhash.evaluation import code_blocks, retrieval, same_label

X, y = load_digits(return_X_y=True)
relevant = same_label(y[1400:], y[:1400])


def mean_ap(encoder, n_bits):
    """Mean average precision of the first n_bits bits."""
    queries, codes = encoder.encode_queries(X[1400:], n_bits), encoder.encode(X[:1400], n_bits)
    return retrieval(code_blocks(queries, codes, relevant), ["map"]).mean["map"]


lengths, own_lengths, found = [1, 2, 4, 6, 8, 12, 16, 24, 32], [4, 8, 32], {}
for make, labels in ((DistilHash, y[:600]), (ITQ, None)):
    models = {n: make(n_bits=n, random_state=0).fit(X[:600], labels) for n in own_lengths}
    found[make] = [mean_ap(models[32], n) for n in lengths], [mean_ap(models[n], n) for n in own_lengths]
prefixes, own = found[DistilHash]
assert all(abs(prefixes[lengths.index(n)] - value) < 0.01 for n, value in zip(own_lengths, own))

# %%
# The rings of DistilHash lie on its line. A short ITQ model is better than the prefix of a long one.
figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for (prefixes, own), name, colour, marker in (
    (found[DistilHash], "DistilHash, with labels", "#0072b2", "o"),
    (found[ITQ], "ITQ, without labels", "#d55e00", "s"),
):
    ax.plot(lengths, prefixes, color=colour, label=f"{name}: prefixes of one model")
    ax.plot(own_lengths, own, marker, color=colour, fillstyle="none", ms=9, label="its models of this length")
ax.set(xscale="log", xlabel="bits", ylabel="mean average precision", ylim=(0, 1))
ax.set_xticks(lengths, lengths)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, fontsize=8, loc="lower right")
plt.show()
