"""
Judgements: map the queries, keep the codes
===========================================

Queries are not always like documents. Judgements, which say what is relevant to a query, then teach a *query
map*: queries move before they are coded. Codes and index stay as they are.
"""

# %%
# Documents are digits. Queries are digits whose lower part is blank, so they lie off the documents. A
# document is relevant if it shows the same digit. Codes are learned from documents alone.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from structhash import DistilHash, Qrels
from structhash.evaluation import code_blocks, retrieval, same_label

X, y = load_digits(return_X_y=True)
documents, shown = X[:700], y[:700]
half = X[700:].reshape(-1, 8, 8).copy()
half[:, 5:] = 0
queries, asked = half.reshape(-1, 64), y[700:]
encoder = DistilHash(n_bits=32, random_state=0).fit(documents)
codes = encoder.encode(documents)
test, relevant = queries[797:], same_label(asked[797:], shown)


def mean_ap(model):
    """Mean average precision of the 300 test queries."""
    return retrieval(code_blocks(model.encode_queries(test), codes, relevant), ["map"]).mean["map"]


# %%
# A person grades 80 documents for each judged query: 1 if relevant, else 0. ``adapt_queries`` takes the map
# only where held-out judged queries gain from it for sure.
rng = np.random.default_rng(0)
counts, with_map = [0, 50, 100, 200, 400, 797], [mean_ap(encoder)]
for count in counts[1:]:
    q = np.repeat(np.arange(count), 80)
    d = np.concatenate([rng.choice(700, 80, replace=False) for _ in range(count)])
    graded = np.column_stack([q, d, asked[q] == shown[d]])
    adapted = encoder.adapt_queries(documents, Qrels(graded, queries[:count], unjudged="ignore"))
    assert (adapted.encode(documents) == codes).all()
    with_map.append(mean_ap(adapted))

# %%
# Gains come early. The dashed line is the search without a map.
figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.plot(counts, with_map, "o-", color="#0072b2")
ax.axhline(with_map[0], color="0.4", linestyle="--")
for name, value, shift in (("queries as they are", with_map[0], -14), ("queries mapped", with_map[-1], 9)):
    ax.annotate(name, (797, value), (0, shift), textcoords="offset points", ha="right")
ax.set(xlabel="judged queries", ylabel="mean average precision", ylim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
for place, row, title in ((0.3, X[1500], "a digit"), (0.5, queries[800], "as a query")):
    inset = ax.inset_axes([place, 0.72, 0.16, 0.25])
    inset.imshow(row.reshape(8, 8), "gray_r")
    inset.set(xticks=[], yticks=[])
    inset.set_title(title, fontsize=9)
plt.show()
